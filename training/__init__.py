"""How the model in the box was made: data, training, conversion, evaluation. See README.md."""
