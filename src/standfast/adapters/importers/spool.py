"""From what a reader found to an export of our own, which the import of exports reads in.

So everything that holds for exports holds here: a line is reported, what is there already is left
alone, what was forgotten stays forgotten, all of it is one change, and an import that was killed
is simply started again. Ids are derived from where a thing stood, so the same file gives the same
ids.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from standfast.access.spool import private_spool
from standfast.adapters.importers.values import (
    Conversation,
    Foreign,
    ForeignLink,
    ForeignRecord,
    LeftOut,
    Remark,
)
from standfast.errors import Invalid
from standfast.lifecycle.status import held, superseded
from standfast.scopes import make_scope, root_of
from standfast.text.compare import record_hash
from standfast.text.inputs import RECORD_BYTES_MAX, When, clean_name, clean_text, utc_moment
from standfast.text.messages import Intake, searchable_text, take_in, turn_id
from standfast.text.redact import Redactor
from standfast.text.trust import doubt_about, suspicion, without_recalled
from standfast.types import (
    KIND_OF_TYPE,
    TRUST_OF_SOURCE,
    Message,
    Record,
    Relation,
    Session,
    Source,
)
from standfast.types.serial import FORMAT, VERSION, Value, json_line, line_of
from standfast.upkeep.fold import READER as FOLD
from standfast.upkeep.learn import READER as LEARN

SOURCE: Source = "import"
TURN_CHARACTERS_MAX = 100_000
LEFT_OUT_MAX = 1000  # that are named one by one
ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant",
         "agent": "assistant", "user_message": "user", "assistant_message": "assistant",
         "summary": "note", "approval": "note", "reasoning": "note"}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ImportPlan:
    """Whose a thing becomes and how it is named. ``scope``: all of it goes there, whoever it
    belonged to; without one it goes to whoever it belonged to, or to ``default``. What has no time
    of its own was said when the file was ``written``, not now: what was forgotten since then must
    not come back as news."""

    kind: str
    now: datetime
    written: datetime
    default: str
    scope: str | None = None
    learn: bool = False

    def scope_of(self, owner: tuple[tuple[str, str], ...]) -> str:
        if self.scope is not None or not owner:
            return self.scope or self.default
        return make_scope(*owner)

    def id_of(self, scope: str, *names: str) -> str:
        told = "\0".join((self.kind, scope, *names)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16).hexdigest()


@dataclass(slots=True, kw_only=True)
class Spool:
    """An export under way: logs first, then records, then links, each in a file of its own until
    all is known."""

    plan: ImportPlan
    logs: IO[bytes] = field(default_factory=private_spool)
    records: IO[bytes] = field(default_factory=private_spool)
    links: IO[bytes] = field(default_factory=private_spool)
    roots: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    redactor: Redactor = field(default_factory=Redactor)
    lengths: dict[tuple[str, str], int] = field(default_factory=dict)  # messages by session

    def take(self, found: Iterable[Foreign], told: Callable[[int], None] | None = None) -> None:
        """Everything; one thing that cannot be kept does not keep the others out."""
        for one in found:
            if isinstance(one, Conversation):
                self._conversation(one, told)
            elif isinstance(one, LeftOut):
                self.leave_out(one)
            else:
                self._statement(one)
            if told is not None:
                told(sum(self.counts.values()))

    def _statement(self, one: ForeignRecord | ForeignLink) -> None:
        try:
            if isinstance(one, ForeignRecord):
                self._put(self.records, "record", self._record(one))
            else:
                self._put(self.links, "relation", self._link(one))
        except Invalid as error:
            what = one.id if isinstance(one, ForeignRecord) else f"{one.source} {one.kind}"
            self.leave_out(LeftOut(what=what, why=str(error)))

    def leave_out(self, one: LeftOut) -> None:
        self.reasons[one.why] += 1
        if len(self.left_out) < LEFT_OUT_MAX:
            self.left_out.append(one)

    def _put(self, file: IO[bytes], type_: str, value: Value) -> None:
        file.write(line_of(value))
        self.roots.add(root_of(value.scope))  # type: ignore[union-attr]
        self.counts[type_] += 1

    # Conversations

    def _conversation(self, one: Conversation, told: Callable[[int], None] | None) -> None:
        try:
            scope, id_, started = self._session(one)
        except Invalid as error:
            self.leave_out(LeftOut(what=one.id, why=str(error)))
            return
        # What the reader itself raises while it reads on is not caught: the file is wrong.
        for remark in one.remarks:
            if isinstance(remark, LeftOut):
                self.leave_out(remark)
                continue
            try:
                self._remark(remark, one, scope, id_, started)
            except Invalid as error:
                self.leave_out(LeftOut(what=remark.id, why=str(error)))
            if told is not None:
                told(sum(self.counts.values()))

    def _session(self, one: Conversation) -> tuple[str, str, datetime | None]:
        scope = self.plan.scope_of(one.owner)
        id_ = clean_name(f"{self.plan.kind}/{one.id}", "the id of a conversation")
        started, _ = utc_moment(one.at, "the time of a conversation")
        if (scope, id_) not in self.lengths:
            self.lengths[scope, id_] = 0
            session = Session(
                scope=scope,
                id=id_,
                channel=self.plan.kind,
                cursors={FOLD: 0, LEARN: 0} if self.plan.learn else {},
                state={"title": one.title[:200]} if one.title else {},
                started_at=started or self.plan.written,
            )
            self._put(self.logs, "session", session)
        return scope, id_, started

    def _remark(
        self,
        remark: Remark,
        one: Conversation,
        scope: str,
        session: str,
        started: datetime | None,
    ) -> None:
        place = self.lengths[scope, session]
        intake = Intake(
            scope=scope,
            session=session,
            now=started or self.plan.written,
            redactor=self.redactor,
            new_id=lambda: self.plan.id_of(scope, session, str(place)),
            author=one.author if remark.role in ("user", "human") else "",
            source=SOURCE,
        )
        told: dict[str, Any] = {
            **remark.more,
            "role": ROLES.get(remark.role, remark.role),
            "content": remark.content,
            "id": remark.id,
        }
        told |= {"at": remark.at} if remark.at is not None else {}
        told |= {"author": remark.author} if remark.author else {}
        for taken in take_in(told, intake):
            self.lengths[scope, session] += 1
            line = replace(taken.message, seq=self.lengths[scope, session])
            self._put(self.logs, "message", line)
            turn = self._turn(line)
            if turn is not None:
                self.records.write(line_of(turn))

    def _turn(self, message: Message) -> Record | None:
        """The searchable side of a message, as ``observe`` makes it."""
        text = without_recalled(searchable_text(message))[:TURN_CHARACTERS_MAX]
        if not text.strip():
            return None
        data: dict[str, Any] = {"role": message.role, "channel": self.plan.kind}
        turn = Record(
            id=turn_id(message.scope, message.session, message.id),
            scope=message.scope,
            kind="episodic",
            type="turn",
            text=text,
            learned_at=self.plan.now,
            data=data,
            source=message.source,
            trust=message.trust,
            author=message.author,
            session=message.session,
            lineage=(message.id,),
            valid_from=message.at.astimezone(UTC),
        )
        return held(turn, doubt_about(message))

    # Statements

    def _record(self, one: ForeignRecord) -> Record:
        text, _ = clean_text(one.text, "the text", RECORD_BYTES_MAX)
        if not text.strip():
            raise Invalid("there is nothing in it")
        scope = self.plan.scope_of(one.owner)
        kind = one.kind or KIND_OF_TYPE[one.type]
        created, updated = self._time(one.created, "created"), self._time(one.updated, "updated")
        valid_from = self._time(one.valid_from, "valid from")
        # What has a place in a list and no time keeps its place.
        place = self.plan.written + timedelta(microseconds=self.counts["record"])
        since = valid_from or ((created or place) if one.exact else None)
        record = Record(
            id=self.plan.id_of(scope, one.id),
            scope=scope,
            kind=kind,
            type=one.type,
            text=text,
            learned_at=min(updated or created or self.plan.written, self.plan.now),
            data=self._data(one, created),
            tags=tuple(sorted({clean_name(tag, "a tag") for tag in one.tags})),
            importance=one.importance,
            source=SOURCE,
            trust=TRUST_OF_SOURCE[SOURCE],
            author=clean_name(one.author, "author") if one.author else "",
            valid_from=since,
            valid_to=self._time(one.valid_to, "valid to"),
            expires_at=self._time(one.expires, "expires"),
            hash="" if one.exact else record_hash(text),
        )
        record = held(record, suspicion(text))
        if not one.superseded:
            return record
        return superseded(record, self._time(one.retired, "retired") or self.plan.now)

    def _data(self, one: ForeignRecord, created: datetime | None) -> dict[str, Any]:
        origin: dict[str, Any] = {"from": self.plan.kind, "id": one.id}
        origin |= {"created": created.isoformat()} if created else {}
        return {**one.data, "imported": origin}

    def _time(self, value: When | None, what: str) -> datetime | None:
        return utc_moment(value, what)[0]

    def _link(self, one: ForeignLink) -> Relation:
        scope = self.plan.scope_of(one.owner)
        return Relation(
            scope=scope,
            source=self.plan.id_of(scope, one.source),
            target=self.plan.id_of(scope, one.target),
            kind=one.kind,
            learned_at=self.plan.now,
        )

    # The whole

    def export(self) -> IO[bytes]:
        """All of it in one file, from its beginning."""
        whole = private_spool()  # whoever asked closes it
        header = {
            "format": FORMAT,
            "version": VERSION,
            "at": self.plan.now.isoformat(),
            "scopes": sorted(self.roots),
        }
        writing = _Hashed(whole)
        writing.write(json_line(header))
        for part in (self.logs, self.records, self.links):
            part.seek(0)
            shutil.copyfileobj(part, writing)
        end = {"type": "end", "counts": dict(self.counts), "sha256": writing.hash.hexdigest()}
        whole.write(json_line(end))
        whole.seek(0)
        return whole

    def close(self) -> None:
        for file in (self.logs, self.records, self.links):
            file.close()


class _Hashed:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        self.hash.update(piece)
        return self._file.write(piece)
