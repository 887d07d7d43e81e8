"""Time expressions, resolved against the moment they were said. Pure."""
