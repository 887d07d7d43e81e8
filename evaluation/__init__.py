"""How often standfast finds the right memory, on public data that the user names.

``python -m evaluation DATA`` (or ``make eval DATA=...``) runs it through the public interface
only; nothing here is installed with the package, and no data comes with it.
"""
