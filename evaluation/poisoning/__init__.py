"""What becomes of attempts to poison a memory, and how often harmless texts are held back."""
