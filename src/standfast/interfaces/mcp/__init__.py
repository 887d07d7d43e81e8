"""The Model Context Protocol: memory as tools, prompts and resources for agents."""
