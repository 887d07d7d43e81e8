"""What answers, and nothing else: small memories, questions, and exactly what answers each."""
