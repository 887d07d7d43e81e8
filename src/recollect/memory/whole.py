"""The verbs that concern a store as a whole: exports, imports and upkeep by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.access.rights import needs
from recollect.types import Receipt
from recollect.types.arguments import Actor, FileSource, FileTarget, Scope, Scopes

if TYPE_CHECKING:
    from recollect.engine import Engine


class WholeStore:
    """The verbs that read or change everything at once."""

    _engine: Engine

    @needs("read")
    async def export_to(
        self,
        path: FileTarget,
        *,
        scope: Scopes | None = None,
        descend: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Receipt:
        """Write everything this handle may see, or some scopes of it, as JSON lines: to a file,
        which is there complete or not at all, or to a binary stream.

        Args:
            path: the file to write
            scope: only this one and all below it
            descend: also everything below the scopes
            progress: is told how many records and messages are written, and of how many
        """
        from recollect.verbs.export import export_to

        return await export_to(self._engine, path, scope=scope, descend=descend, progress=progress)

    @needs("write")
    async def import_from(
        self,
        path: FileSource,
        *,
        dry_run: bool = False,
        partial: bool = False,
        progress: Callable[[int, int], None] | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Read an export in, with a report per line. Doing it again changes nothing.

        Args:
            path: the file to read
            dry_run: only say what would happen
            partial: take what is there of a file that was cut off or changed
            progress: is told how many lines are done, and of how many
            actor: who does it, for the journal
        """
        from recollect.verbs.import_ import import_from

        return await import_from(
            self._engine, path, dry_run=dry_run, partial=partial, actor=actor, progress=progress
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
        from recollect.upkeep.loop import maintain

        return await maintain(self._engine, scope=scope, dry_run=dry_run, force=force, retry=retry)

    @needs("admin")
    async def reembed(self, progress: Callable[[int], None] | None = None) -> Receipt:
        """Move the store to the space of this handle's embedder, while others go on reading the
        old one. May be killed and started again.

        Args:
            progress: is told how many records are done
        """
        from recollect.verbs.reembed import reembed

        return await reembed(self._engine, progress)
