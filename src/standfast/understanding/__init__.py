"""What messages mean: read by networks that were trained on labelled data."""
