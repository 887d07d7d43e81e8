"""Searching arrays in memory: filters, neighbours, vectors. No database driver."""
