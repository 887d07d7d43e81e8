"""standfast beside what a user would pick instead, each in a virtual environment of its own.

``python -m bench.peers`` makes the environments from the pins beside this file, gives every
program the same texts and the same vectors, and writes tables. See ``peers.py`` for who takes
part and with which settings.
"""
