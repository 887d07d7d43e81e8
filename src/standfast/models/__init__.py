"""Language models and embedders: asked with care, inside budgets."""
