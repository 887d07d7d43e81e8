"""Speed and size of standfast, each number beside a bare baseline measured in the same run.

``python -m bench`` (or ``make bench``) runs it; nothing here is installed with the package.
"""
