"""The networks in the box: what runs them, and the base that they share."""
