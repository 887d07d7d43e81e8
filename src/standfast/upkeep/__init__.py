"""What runs by itself: the loop, leases, folding, learning, consolidation."""
