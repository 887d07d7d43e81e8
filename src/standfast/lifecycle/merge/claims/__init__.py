"""The claim of a statement, by rules: its subject, slot and value, for the judge alone.

Nothing is learned by them: what a message says is for a reader (``standfast.understanding``).
"""
