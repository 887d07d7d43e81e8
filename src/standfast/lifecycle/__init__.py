"""How a record meets what is known, and what becomes of both."""
