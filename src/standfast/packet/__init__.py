"""What a model is shown: memories and messages inside a budget, in its own shape. Pure."""
