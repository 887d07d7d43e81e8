"""The verbs that concern a store as a whole: exports, imports and upkeep by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from standfast.access.rights import needs
from standfast.types import Receipt
from standfast.types.arguments import Actor, FileSource, FileTarget, Label, Scope, Scopes

if TYPE_CHECKING:
    from standfast.engine import Engine


class WholeStore:
    """The verbs that read or change everything at once."""

    _engine: Engine

    @needs("export")
    async def export_to(
        self,
        path: FileTarget,
        *,
        scope: Scopes | None = None,
        descend: bool = True,
        author: Label = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> Receipt:
        """Write everything this handle may see, or some scopes of it, as JSON lines: to a file,
        which is there complete or not at all, or to a binary stream.

        Args:
            path: the file to write
            scope: only this one and all below it
            descend: also everything below the scopes
            author: all that is kept about this author instead, as text for people to read
            progress: is told how many records and messages are written, and of how many
        """
        from standfast.verbs.export import export_to

        if author:
            from standfast.verbs.disclose import disclose

            return await disclose(self._engine, path, scope=scope, descend=descend, author=author)
        return await export_to(self._engine, path, scope=scope, descend=descend, progress=progress)

    @needs("import")
    async def import_from(
        self,
        path: FileSource,
        *,
        dry_run: bool = False,
        partial: bool = False,
        trusted_key: str = "",
        progress: Callable[[int, int], None] | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Read an export in, with a report per line. Doing it again changes nothing.

        What it holds is believed like any import; what it says of its own trust, of reviews and
        settings counts only if an admin of every scope names the key that has signed it.

        Args:
            path: the file to read
            dry_run: only say what would happen
            partial: take what is there of a file that was cut off or changed
            trusted_key: a public key (PEM): its holder signed the file, and is believed
            progress: is told how many lines are done, and of how many
            actor: who does it, for the journal
        """
        from standfast.verbs.import_ import import_from

        return await import_from(
            self._engine,
            path,
            dry_run=dry_run,
            partial=partial,
            trusted_key=trusted_key,
            actor=actor,
            progress=progress,
        )

    @needs("admin")
    async def maintain(
        self,
        *,
        dry_run: bool = False,
        scope: Scope | None = None,
        force: bool = False,
        retry: bool = False,
    ) -> Receipt:
        """One round of upkeep by hand, and consolidation now.

        Args:
            dry_run: write nothing; only say what consolidation would change
            scope: consolidate only this scope and all below it
            force: even if it retires more than the allowed share
            retry: try again what is stuck after too many failures
        """
        from standfast.upkeep.loop import maintain

        return await maintain(self._engine, scope=scope, dry_run=dry_run, force=force, retry=retry)

    @needs("admin")
    async def reembed(self, progress: Callable[[int], None] | None = None) -> Receipt:
        """Move the store to the space of this handle's embedder, while others go on reading the
        old one. May be killed and started again.

        Args:
            progress: is told how many records are done
        """
        from standfast.verbs.reembed import reembed

        return await reembed(self._engine, progress)
