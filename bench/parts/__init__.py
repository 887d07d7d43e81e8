"""What is measured, one module each: ``run(bench)`` answers with a ``report.Result``."""
