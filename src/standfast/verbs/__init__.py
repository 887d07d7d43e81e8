"""What a caller may do: one file a verb, named like it. Each is a method of ``AsyncMemory``."""
