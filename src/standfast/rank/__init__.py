"""From candidates to one order, each stage explaining itself. Pure."""
