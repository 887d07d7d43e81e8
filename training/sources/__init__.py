"""Public data at pinned commits, made into stores."""
