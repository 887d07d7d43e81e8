"""``python -m recollect.interfaces.cli``."""

import sys

from recollect.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
