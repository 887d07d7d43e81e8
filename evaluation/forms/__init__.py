"""Questions whose form says what is wanted: requests that a standing wish is for, and questions
for all of something, or for its order."""
