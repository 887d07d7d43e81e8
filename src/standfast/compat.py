"""Every string that enters a key, a hash, a signature, a format or a stored name.

Stores, exports and files that exist were written with them. A string below "stays": its bytes are
those of version 0.1 for ever. What is written with ``NAME`` is read under each of ``NAMES``, which
begins with the name of today. No other module spells the first name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

NAME: Final[str] = "standfast"
FIRST_NAME: Final[str] = "recollect"  # of version 0.1
NAMES: Final = tuple(dict.fromkeys((NAME, FIRST_NAME)))

# Keys, hashes and signatures. They stay.

STORE_KEY_PERSON = b"recollect store"  # of BLAKE2b: a secret becomes the key of an encrypted store
SIGNATURE_PREFIX = "ed25519:"  # before the signature of an export
AUDIT_KEY = "audit key"  # the cell with the key that hides names in the audit log of a root
AUDIT_SEAL = "seal"  # the act of a line that seals the ones before
TOMBSTONES = "tombstone"  # the items that keep forgotten things away, and the name of their secret
SECRETS = "secret"  # the items with the secret of a root

# The prefixes of secrets: other programs find a leaked one by them. Ids of events.

API_KEY_PREFIX = "rck_"
RENEWAL_PREFIX = "rcr_"
BROWSER_KEY_PREFIX = "rcb_"
WEBHOOK_SECRET_PREFIX = "whs_"
EVENT_PREFIX = "evt_"
TOKEN_PREFIX = "token-"  # the id of somebody who came with an issuer's token

# The kinds of cells and the namespaces of items. They stay; servers and backups hold them.

KEY_CELLS, DEVICE_CELLS, KEY_USE_CELLS = "key", "device", "key used"
DEVICE_MOVE_CELLS = "mapping of a device"
LOGIN_CODE_CELLS = "code"
OAUTH_CELLS = ("oauth client", "oauth consent", "oauth code", "oauth grant")
QUOTA_CELLS, STORED_CELLS, RATE_CELLS, BUDGET_CELLS = "quota", "stored", "rate", "budget"
WEBHOOK_CELLS, WEBHOOK_PLACE_CELLS = "webhook", "webhook place"
FORGOTTEN_CELLS, EXPORTED_CELLS, BACKUP_CELLS = "forgotten at", "exported", "backup"
INSPECTED_CELLS, DAMAGE_CELLS = "inspected", "damage"
CONSOLIDATED_CELLS, BROUGHT_BACK_CELLS = "consolidated", "brought-back"
PRUNED_CELLS, MIGRATED_CELLS = "pruned", "migrated"
QUEUE_CELLS, SPACE_CELLS = "queue", "space"
IDEMPOTENCY, AUDIT, MIRRORS, JOBS = "idempotency", "audit", "mirror", "job"
POLICIES, PROPOSALS, IMPORTED_JOURNAL = "policy", "proposal", "journal"
PRACTICE, PRACTISED = "practice", "practised"  # the first is in ids of procedures too
STABLE, CONSUMED = "stable", "consumed"

# What ids are hashed from, beside the scope and the content; tags and sessions of our own.

EPISODE_ID = "end"
PROFILE_TAG = "profile"
KEY_TAG = "key:"  # before the caller's own name of a record
TYPE_TAG = "type:"  # before the name of a type
PENDING_SESSION, NOTES_SESSIONS = "~pending", "~notes/"

# Files of SQLite. They stay.

SQLITE_APPLICATION_ID = 0x7265636F  # "reco", shown by file(1)

# Servers of databases. The schema of PostgreSQL is renamed when it is first opened; the rest stays.

POSTGRES_SCHEMA = NAME
POSTGRES_SCHEMAS = NAMES
POSTGRES_CHANNEL = NAME  # of LISTEN and NOTIFY: nothing is stored under it
POSTGRES_LOCK = 0x7265636F6C  # of the database, while it is migrated
POSTGRES_SHARD = NAME + "_{}"  # the foreign server of a shard, by its number
REDIS_PREFIX = "recollect"
SURREAL_NAMESPACE, SURREAL_DATABASE = "recollect", "memory"

# Formats. What carries the name is written with that of today and read with any.

EXPORT_FORMAT, EXPORT_FORMATS = NAME, NAMES  # in the first line of an export
MARKDOWN_MARK, MARKDOWN_MARKS = NAME, NAMES  # <!-- mark:id --> behind a line of a workspace
PROMPT_MARK, PROMPT_MARKS = NAME, NAMES  # our part of a message that Pydantic AI keeps
HOOK_MARKS = NAMES  # in the command of a hook of ours
ONNX_PRODUCER = "recollect"  # in the graph, whose SHA-256 is pinned. It stays.

# Places. A new one is made under the name of today; one that exists is used where it is.

KEYRING_SERVICES = NAMES
FOLDER = NAME  # in the user's folders of data, settings and caches
FIRST_FOLDER = FIRST_NAME
FIRST_VARIABLES = f"{FIRST_NAME.upper()}_"  # how variables began; they do not count any more


def forms(text: str) -> tuple[str, ...]:
    """A text that holds the name of today, with each of ``NAMES`` in its place."""
    return tuple(text.replace(NAME, name) for name in NAMES)


def existing(path: Path, used: Callable[[Path, Path], None] | None = None) -> Path:
    """A file below the user's folder ``FOLDER``; where version 0.1 kept it, if it is only there.
    ``used`` is told of that one, and of where it would be now."""
    if FOLDER == FIRST_FOLDER or path.exists():
        return path
    parts = [FIRST_FOLDER if part == FOLDER else part for part in path.parts]
    first = Path(*parts)
    if not first.exists():
        return path
    if used is not None:
        used(first, path)
    return first
