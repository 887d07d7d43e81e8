"""What every test of an adapter is watched for."""

from tests.tracebacks import piped_tracebacks, pytest_runtest_makereport

__all__ = ["piped_tracebacks", "pytest_runtest_makereport"]
