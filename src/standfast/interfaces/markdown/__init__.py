"""A store as a folder of Markdown files that a person can read and edit."""
