"""Memories that nobody had: sentences written for this project, put together by chance."""
