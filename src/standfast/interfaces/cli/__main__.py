"""``python -m standfast.interfaces.cli``."""

import sys

from standfast.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
