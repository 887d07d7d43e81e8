"""Which store an address names. Stores are found by entry point, the built-in ones like any other:

    [project.entry-points."standfast.stores"]
    mine = "my_package:open_mine"

``open_mine(address, *, cache_bytes)`` is awaited with the whole address and answers with a store.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from standfast.errors import Incompatible, Invalid, install_command
from standfast.ports import Store

GROUP = "standfast.stores"
Factory = Callable[..., Awaitable[Store]]

# What pyproject.toml registers, for a source tree that was not installed.
BUILT_IN = {
    "sqlite": "standfast.stores.sqlite:open_address",
    "dict": "standfast.stores.dict:open_address",
    "postgresql": "standfast.stores.postgres:open_address",
    "postgres": "standfast.stores.postgres:open_address",
    "redis": "standfast.stores.redis:open_address",
    "rediss": "standfast.stores.redis:open_address",
    "redis+cluster": "standfast.stores.redis:open_address",
    "rediss+cluster": "standfast.stores.redis:open_address",
    "surrealkv": "standfast.stores.surreal:open_address",
    "mem": "standfast.stores.surreal:open_address",
    "ws": "standfast.stores.surreal:open_address",
    "wss": "standfast.stores.surreal:open_address",
    "http": "standfast.stores.surreal:open_address",
    "https": "standfast.stores.surreal:open_address",
}
# Built-in stores whose driver comes with an extra: scheme -> its name.
EXTRAS = {
    "redis": "redis",
    "rediss": "redis",
    "redis+cluster": "redis",
    "rediss+cluster": "redis",
    "postgresql": "postgres",
    "postgres": "postgres",
    "surrealkv": "surreal",
    "mem": "surreal",
    "ws": "surreal",
    "wss": "surreal",
    "http": "surreal",
    "https": "surreal",
}
# Those that several processes may open at once, as their capabilities say.
SHARED = ("sqlite", "postgresql", "postgres", "redis", "rediss", "redis+cluster", "rediss+cluster")


def scheme_of(address: str) -> str:
    """The scheme of an address; a path is one of "sqlite". Raises Invalid or Incompatible."""
    if address == "dict" or address.endswith(":memory:"):  # it would be a file of that name
        raise Invalid(f"{address} is no address; for a store in this process only write dict:")
    scheme, colon, _ = address.partition(":")
    if colon and scheme in BUILT_IN:
        return scheme
    if "://" not in address:
        start = address.partition("//")[0].removesuffix(":")
        if "//" in address and start in EXTRAS:  # a path would be made with a password in its name
            raise Invalid(
                f"{start}// is no address: a colon is missing or misplaced; write {start}://"
            )
        return "sqlite"
    brought = _brought()
    if scheme in brought:
        return scheme
    if scheme in EXTRAS:
        raise Incompatible(f"the {EXTRAS[scheme]} store is not part of this version yet")
    raise Invalid(_unknown(address, scheme, {*BUILT_IN, *brought}))


def _unknown(address: str, scheme: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(scheme.lower(), sorted(known), 1, 0.6)
    meant = f"did you mean {near[0]}://? Else " if near else ""
    names = ", ".join(sorted(known - EXTRAS.keys()))
    servers = ", ".join(f"{name}://" for name in sorted(known & EXTRAS.keys()))
    return (
        f"unknown store {without_password(address)!r}; {meant}use a path or a store that is "
        f"installed: {names}; or a server: {servers}"
    )


def without_password(address: str) -> str:
    """The address as it may be shown."""
    address = re.sub(r"(://[^:@/?#]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)([?&](?:ssl)?password=)[^&]*", r"\1***", address)


def sqlite_file(address: str) -> Path:
    path = address.removeprefix("sqlite:").removeprefix("//")
    if not path:
        raise Invalid("the store path is empty")
    return Path(path).expanduser()


def factory_of(scheme: str) -> Factory:
    """Imports the store. Incompatible if something it needs is not installed."""
    place = BUILT_IN.get(scheme) or _brought()[scheme]
    module, _, name = place.partition(":")
    try:
        found: Any = importlib.import_module(module.strip())
        for part in name.strip().split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        how = install_command(EXTRAS[scheme]) if scheme in EXTRAS else f"pip install {error.name}"
        raise Incompatible(
            f"the {scheme} store needs {error.name}, which is not installed; run: {how}"
        ) from error
    except AttributeError as error:
        raise Incompatible(f"the {scheme} store cannot be opened: {place}: {error}") from error
    return cast(Factory, found)


def _brought() -> dict[str, str]:
    """What installed packages bring. Nobody looks before an address asks for it: that takes
    longer than opening a file."""
    return {point.name: point.value for point in entry_points(group=GROUP)}


def entry_points(*, group: str) -> Any:
    """Loading what reads them takes as long as opening a file, too."""
    from importlib import metadata

    return metadata.entry_points(group=group)
