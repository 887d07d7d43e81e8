"""Lists: what there is, page by page, as far as the handle may see it."""
