"""Labelled messages for the network that reads: which clause says what."""
