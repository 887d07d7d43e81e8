"""What a new message does to an old statement: one judge, one decision."""
