"""A store over anything that keeps sorted keys: what Redis and SurrealDB share.

``keys.py`` says where everything lies, ``engine.py`` what an engine has to do, ``store.py`` is the
store. An engine that reads and writes sorted keys, all of them or none, gets the rest from here.
"""
