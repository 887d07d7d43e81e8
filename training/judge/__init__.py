"""Judged pairs for the network that compares: what a later message does to an old statement."""
