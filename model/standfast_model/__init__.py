"""The files of recall-2 and its base; README.md says what it is. There is no code here."""
