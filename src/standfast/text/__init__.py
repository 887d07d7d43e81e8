"""What texts say: words, claims, dates, secrets, signs of steering. Pure."""
