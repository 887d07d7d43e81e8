"""Thin shells over the verbs: each translates and calls, none knows a store."""
