"""The clauses of the store contract, by topic."""
