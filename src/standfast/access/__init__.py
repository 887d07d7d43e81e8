"""Who may do what: rights of a handle, keys, and the users that devices belong to."""
