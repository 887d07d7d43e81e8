"""How news-1 was made: the network that reads a known statement and a later message together."""
