"""Hooks of coding agents: what they bring to a session, what they take from it."""
