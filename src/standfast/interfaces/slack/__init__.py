"""A workspace of Slack as a memory: a channel is a project, its talk is remembered."""
