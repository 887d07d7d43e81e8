"""The files of recall-1; README.md says what it is. There is no code here."""
