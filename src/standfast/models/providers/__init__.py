"""What turns text into vectors and, later, answers: one module per provider."""
