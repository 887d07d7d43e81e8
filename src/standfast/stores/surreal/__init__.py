"""The SurrealDB store. ``open_address`` opens ``surrealkv://path``, ``mem://``, and a server at
``ws://`` or ``http://`` (and ``wss://``, ``https://``)."""

from standfast.stores.surreal.store import SurrealStore, open_address

__all__ = ["SurrealStore", "open_address"]
