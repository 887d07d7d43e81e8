"""What was forgotten, remembered as keyed hashes, so that it does not come back."""
