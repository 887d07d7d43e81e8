"""Adapters: the surfaces that other projects made known, on this memory.

One module per ecosystem. Each uses the public facade alone and imports the package it fits into
only when it is itself imported.
"""
