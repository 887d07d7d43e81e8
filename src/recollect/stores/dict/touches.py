from recollect.stores.touches import *  # noqa: F403
