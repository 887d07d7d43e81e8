"""Memories and questions in thirteen languages, for search in other words and from English."""
