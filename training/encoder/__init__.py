"""The multilingual base and the encoder for search that is trained on it (recall-2, in trial)."""
