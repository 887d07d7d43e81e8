"""What a message says: its clauses, marked by a network."""
