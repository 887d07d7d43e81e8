"""Gates: limits on names, sizes, commits and prose that a change may only tighten."""
