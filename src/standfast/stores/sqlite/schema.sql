-- The whole database as the newest program makes it. An older file gets there by the numbered
-- files in migrations/; a test holds the two ways equal, to the letter (hence where the checksums of
-- some tables stand).
--
-- Times are microseconds since 1970 (UTC). Names of kinds, types, states and so on are small
-- numbers, listed in stores/rows.py and again in the views below. What is derived from the rows (the
-- columns words, terms and labels, the tables lineage and snapshot) can be made anew.

CREATE TABLE migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- head: number of the last journal entry. stamp: counts every change of searchable rows,
-- sweeps included, so that the search indexes of all processes know what they miss.
CREATE TABLE root (
  pk    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL UNIQUE,
  head  INTEGER NOT NULL DEFAULT 0,
  stamp INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE scope (
  pk    INTEGER PRIMARY KEY,
  root  INTEGER NOT NULL REFERENCES root (pk),
  path  TEXT NOT NULL UNIQUE,
  stamp INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE session (
  pk         INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scope (pk),
  id         TEXT NOT NULL,
  last_seq   INTEGER NOT NULL DEFAULT 0,
  channel    TEXT NOT NULL DEFAULT '',
  policy     TEXT NOT NULL DEFAULT '',
  state      TEXT NOT NULL DEFAULT '{}',
  started_at INTEGER,
  ended_at   INTEGER,
  version    INTEGER NOT NULL DEFAULT 1, checksum BLOB NOT NULL DEFAULT x'',
  UNIQUE (scope, id)
) STRICT;

-- behind: 1 while seq < session.last_seq.
CREATE TABLE cursor (
  session INTEGER NOT NULL REFERENCES session (pk) ON DELETE CASCADE,
  reader  TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  behind  INTEGER NOT NULL,
  PRIMARY KEY (session, reader)
) STRICT, WITHOUT ROWID;
CREATE INDEX cursor_behind ON cursor (session, reader) WHERE behind = 1;

CREATE TABLE message (
  pk         INTEGER PRIMARY KEY,
  session    INTEGER NOT NULL REFERENCES session (pk) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  id         TEXT NOT NULL,
  role       INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  utc_offset INTEGER NOT NULL,
  author     TEXT NOT NULL,
  source     INTEGER NOT NULL,
  trust      INTEGER NOT NULL,
  pending    INTEGER NOT NULL,
  expires_at INTEGER,
  checksum   BLOB NOT NULL,
  calls      TEXT NOT NULL,
  answers    TEXT NOT NULL,
  text       TEXT NOT NULL,
  original   TEXT NOT NULL,
  UNIQUE (session, seq),
  UNIQUE (session, id)
) STRICT;
CREATE INDEX message_expires ON message (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX message_expires_in_session ON message (session, expires_at)
  WHERE expires_at IS NOT NULL;

CREATE TABLE summary (
  pk         INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scope (pk),
  session    TEXT NOT NULL,
  id         TEXT NOT NULL UNIQUE,
  from_seq   INTEGER NOT NULL,
  to_seq     INTEGER NOT NULL,
  how        INTEGER NOT NULL,
  learned_at INTEGER NOT NULL,
  lineage    TEXT NOT NULL,
  text       TEXT NOT NULL
, checksum BLOB NOT NULL DEFAULT x'') STRICT;
CREATE INDEX summary_of_session ON summary (scope, session, to_seq);

CREATE TABLE space (
  pk         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL
) STRICT;

-- changed: the root's stamp at the last change that a search index must see. space: that of the
-- newest vector. single: 1 if no other record of its scope may have this hash while 1.
-- words: how many; terms and labels: see derived.py. Long columns come last, so that reading an
-- index entry does not walk through the text.
CREATE TABLE record (
  pk           INTEGER PRIMARY KEY AUTOINCREMENT,
  root         INTEGER NOT NULL REFERENCES root (pk),
  scope        INTEGER NOT NULL REFERENCES scope (pk),
  id           TEXT NOT NULL UNIQUE,
  version      INTEGER NOT NULL,
  changed      INTEGER NOT NULL,
  space        INTEGER REFERENCES space (pk),
  kind         INTEGER NOT NULL,
  type         INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  source       INTEGER NOT NULL,
  durability   INTEGER NOT NULL,
  trust        INTEGER NOT NULL,
  importance   REAL NOT NULL,
  confidence   REAL NOT NULL,
  learned_at   INTEGER NOT NULL,
  retired_at   INTEGER,
  valid_from   INTEGER,
  valid_to     INTEGER,
  expires_at   INTEGER,
  review_at    INTEGER,
  uses         INTEGER NOT NULL,
  used_at      INTEGER,
  single       INTEGER NOT NULL,
  words        INTEGER NOT NULL,
  author       TEXT NOT NULL,
  origin       TEXT NOT NULL,
  session      TEXT NOT NULL,
  session_scope TEXT NOT NULL,
  hash         TEXT NOT NULL,
  checksum     BLOB NOT NULL,
  labels       BLOB NOT NULL,
  terms        BLOB NOT NULL,
  tags         TEXT NOT NULL,
  lineage      TEXT NOT NULL,
  derived_from TEXT NOT NULL,
  data         TEXT NOT NULL,
  text         TEXT NOT NULL
) STRICT;
CREATE INDEX record_changed ON record (scope, changed);
CREATE INDEX record_by_id ON record (scope, id);
CREATE UNIQUE INDEX record_single ON record (hash, scope) WHERE single = 1;
CREATE INDEX record_hash ON record (hash, scope) WHERE single = 0 AND hash <> '';
CREATE INDEX record_origin ON record (origin, root) WHERE origin <> '' AND origin <> id;
CREATE INDEX record_author ON record (author, root) WHERE author <> '';
CREATE INDEX record_session ON record (session, root) WHERE session <> '';
CREATE INDEX record_expires ON record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX record_expires_in_root ON record (root, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX record_review ON record (review_at)
  WHERE review_at IS NOT NULL AND status IN (0, 3, 4);
CREATE INDEX record_review_in_root ON record (root, review_at)
  WHERE review_at IS NOT NULL AND status IN (0, 3, 4);
CREATE INDEX record_space ON record (space);

-- What a record was made from. source 0: a message, 1: another record.
CREATE TABLE lineage (
  root   INTEGER NOT NULL,
  source INTEGER NOT NULL,
  ref    TEXT NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (root, source, ref, record)
) STRICT, WITHOUT ROWID;

CREATE TABLE relation (
  source     INTEGER NOT NULL REFERENCES record (pk) ON DELETE CASCADE,
  target     INTEGER NOT NULL REFERENCES record (pk) ON DELETE CASCADE,
  kind       INTEGER NOT NULL,
  scope      INTEGER NOT NULL REFERENCES scope (pk),
  learned_at INTEGER NOT NULL,
  retired_at INTEGER,
  version    INTEGER NOT NULL,
  lineage    TEXT NOT NULL, checksum BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY (source, target, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_target ON relation (target);

-- checksum: CRC-32; NULL in what an older program wrote.
CREATE TABLE vector (
  pk     INTEGER PRIMARY KEY,
  record INTEGER NOT NULL REFERENCES record (pk) ON DELETE CASCADE,
  space  INTEGER NOT NULL REFERENCES space (pk),
  f32    BLOB NOT NULL, checksum INTEGER,
  UNIQUE (record, space)
) STRICT;

-- Records that are gone, so that search indexes in other processes drop them; record 0 tells
-- them to load the scope anew.
CREATE TABLE erased (
  scope  INTEGER NOT NULL REFERENCES scope (pk),
  stamp  INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (scope, stamp, record)
) STRICT, WITHOUT ROWID;

-- The search index of a scope as it was at a stamp (docs/adr/0018). part: '' for words and columns,
-- else the space of small vectors; of the records from key first to last, which are so many rows.
-- form: how the body is laid out. checksum: of the body. seal: of all the rest. Derived: whatever
-- does not fit is passed over.
CREATE TABLE snapshot (
  pk       INTEGER PRIMARY KEY,
  scope    INTEGER NOT NULL REFERENCES scope (pk),
  part     TEXT NOT NULL,
  first    INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  stamp    INTEGER NOT NULL,
  form     INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  seal     INTEGER NOT NULL,
  body     BLOB NOT NULL
) STRICT;
CREATE INDEX snapshot_of_scope ON snapshot (scope, part, first);

-- What is erased leaves no piece of itself in a part; what is to be loaded anew has none.
CREATE TRIGGER record_erased AFTER DELETE ON record BEGIN
  DELETE FROM snapshot WHERE scope = OLD.scope AND first <= OLD.pk AND last >= OLD.pk;
END;
CREATE TRIGGER scope_renewed AFTER INSERT ON erased WHEN NEW.record = 0 BEGIN
  DELETE FROM snapshot WHERE scope = NEW.scope;
END;

CREATE TABLE item (
  root       INTEGER NOT NULL REFERENCES root (pk),
  namespace  TEXT NOT NULL,
  scope      INTEGER NOT NULL REFERENCES scope (pk),
  key        TEXT NOT NULL,
  version    INTEGER NOT NULL,
  expires_at INTEGER,
  value      TEXT NOT NULL, checksum BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY (root, namespace, scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_expires ON item (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX item_expires_in_root ON item (root, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE journal (
  root   INTEGER NOT NULL REFERENCES root (pk),
  seq    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  batch  TEXT NOT NULL,
  change TEXT NOT NULL,
  reason TEXT NOT NULL,
  actor  TEXT NOT NULL,
  PRIMARY KEY (root, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX journal_batch ON journal (batch, root);
CREATE INDEX journal_change ON journal (change, root, seq);

-- also: a second thing that a touch mentions (its session; the target of a relation), because
-- what is erased is wiped from before and after.
CREATE TABLE touch (
  root   INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  place  INTEGER NOT NULL,
  kind   INTEGER NOT NULL,
  scope  INTEGER NOT NULL REFERENCES scope (pk),
  ref    TEXT NOT NULL,
  also   TEXT,
  before TEXT,
  after  TEXT,
  PRIMARY KEY (root, seq, place),
  FOREIGN KEY (root, seq) REFERENCES journal (root, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX touch_ref ON touch (ref, root, seq);
CREATE INDEX touch_also ON touch (also, root) WHERE also IS NOT NULL;

CREATE VIEW working_memory_summaries AS
SELECT summary.id                                     AS id,
       scope.path                                     AS scope,
       summary.session                                AS conversation_id,
       coalesce(session.channel, '')                  AS channel,
       summary.text                                   AS summary,
       summary.from_seq                               AS from_seq,
       summary.to_seq                                 AS to_seq,
       CASE summary.how WHEN 0 THEN 'model' ELSE 'extract' END AS how,
       strftime('%Y-%m-%dT%H:%M:%fZ', summary.learned_at / 1e6, 'unixepoch') AS created_at
FROM summary JOIN scope ON scope.pk = summary.scope
LEFT JOIN session ON session.scope = summary.scope AND session.id = summary.session;

CREATE VIEW semantic_memory AS
SELECT record.id                                      AS id,
       scope.path                                     AS scope,
       record.text                                    AS content,
       CASE record.type WHEN 4 THEN 'fact' WHEN 5 THEN 'preference' WHEN 6 THEN 'user_request'
                        WHEN 7 THEN 'entity' WHEN 8 THEN 'interest' WHEN 3 THEN 'interaction'
                        WHEN 2 THEN 'summary' WHEN 1 THEN 'episode' WHEN 0 THEN 'turn'
                        ELSE 'procedure' END          AS category,
       record.confidence                              AS confidence,
       record.importance                              AS importance,
       CASE record.source WHEN 0 THEN 'user' WHEN 1 THEN 'assistant' WHEN 2 THEN 'tool'
                          WHEN 3 THEN 'web' WHEN 4 THEN 'import' WHEN 5 THEN 'file'
                          ELSE 'system' END           AS source,
       record.tags                                    AS tags,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.learned_at / 1e6, 'unixepoch') AS created_at
FROM record JOIN scope ON scope.pk = record.scope
WHERE record.kind = 1 AND record.status IN (0, 3)
  AND (record.expires_at IS NULL OR record.expires_at > unixepoch('subsec') * 1e6);

CREATE VIEW episodic_memory AS
SELECT record.id                                      AS id,
       scope.path                                     AS scope,
       record.text                                    AS summary,
       CASE record.type WHEN 1 THEN 'episode' WHEN 2 THEN 'summary' ELSE 'interaction' END
                                                      AS category,
       record.importance                              AS importance,
       record.confidence                              AS confidence,
       CASE record.source WHEN 0 THEN 'user' WHEN 1 THEN 'assistant' WHEN 2 THEN 'tool'
                          WHEN 3 THEN 'web' WHEN 4 THEN 'import' WHEN 5 THEN 'file'
                          ELSE 'system' END           AS source,
       record.session                                 AS conversation_id,
       coalesce(json_extract(record.data, '$.channel'), session.channel, '') AS channel,
       record.tags                                    AS tags,
       strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(record.valid_from, record.learned_at) / 1e6,
                'unixepoch')                          AS happened_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.learned_at / 1e6, 'unixepoch') AS created_at
FROM record JOIN scope ON scope.pk = record.scope
LEFT JOIN session ON session.scope = record.scope AND session.id = record.session
WHERE record.kind = 0 AND record.type <> 0 AND record.status IN (0, 3)
  AND (record.expires_at IS NULL OR record.expires_at > unixepoch('subsec') * 1e6);

CREATE VIEW procedural_memory AS
SELECT record.id                                      AS id,
       scope.path                                     AS scope,
       coalesce(json_extract(record.data, '$.name'), record.text) AS name,
       record.text                                    AS content,
       coalesce(json_extract(record.data, '$.steps'), '[]')    AS steps,
       coalesce(json_extract(record.data, '$.triggers'), '[]') AS triggers,
       record.uses                                    AS usage_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.used_at / 1e6, 'unixepoch') AS last_used_at,
       record.confidence                              AS confidence,
       record.importance                              AS importance,
       record.tags                                    AS tags,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.learned_at / 1e6, 'unixepoch') AS created_at
FROM record JOIN scope ON scope.pk = record.scope
WHERE record.kind = 2 AND record.status IN (0, 3)
  AND (record.expires_at IS NULL OR record.expires_at > unixepoch('subsec') * 1e6);
-- version: grows with every write and never comes again.
CREATE TABLE registry (
  version    INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT NOT NULL UNIQUE,
  expires_at INTEGER,
  value      TEXT NOT NULL
) STRICT;
CREATE INDEX registry_expires ON registry (expires_at) WHERE expires_at IS NOT NULL;

-- Roots that have a journal. until: when somebody should go through it again. news: 1 if more
-- happened since somebody did. pruned: how many entries its journal has lost on purpose.
CREATE TABLE upkeep (
  root   INTEGER PRIMARY KEY REFERENCES root (pk),
  until  INTEGER NOT NULL DEFAULT 0,
  news   INTEGER NOT NULL DEFAULT 1,
  pruned INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX upkeep_until ON upkeep (until);
CREATE INDEX upkeep_news ON upkeep (root) WHERE news = 1;

-- An index on root.head would be written with every commit; this writes with the first one.
CREATE TRIGGER root_grew AFTER UPDATE OF head ON root BEGIN
  INSERT INTO upkeep (root) VALUES (new.pk) ON CONFLICT (root) DO UPDATE SET news = 1
    WHERE news = 0;
END;
CREATE TRIGGER record_used AFTER UPDATE OF used_at ON record WHEN new.used_at IS NOT old.used_at
BEGIN
  UPDATE upkeep SET news = 1 WHERE root = new.root AND news = 0;
END;

CREATE INDEX scope_of_root ON scope (root, path);

CREATE VIEW memory AS
SELECT record.id                                      AS id,
       scope.path                                     AS scopeId,
       record.text                                    AS content,
       record.hash                                    AS hash,
       CASE record.type WHEN 4 THEN 'fact' WHEN 5 THEN 'preference' WHEN 6 THEN 'user_request'
                        WHEN 7 THEN 'entity' WHEN 8 THEN 'interest' WHEN 3 THEN 'interaction'
                        WHEN 2 THEN 'summary' WHEN 1 THEN 'episode'
                        ELSE 'procedure' END          AS memoryType,
       CASE record.durability WHEN 0 THEN 'core' WHEN 1 THEN 'standard' ELSE 'ephemeral' END
                                                      AS durability,
       record.importance                              AS importance,
       record.confidence                              AS confidence,
       record.uses                                    AS accessCount,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.learned_at / 1e6, 'unixepoch') AS createdAt,
       strftime('%Y-%m-%dT%H:%M:%fZ', record.used_at / 1e6, 'unixepoch')    AS lastAccessedAt
FROM record JOIN scope ON scope.pk = record.scope
WHERE record.type <> 0 AND record.status IN (0, 3)
  AND (record.expires_at IS NULL OR record.expires_at > unixepoch('subsec') * 1e6);

CREATE VIEW memoryRelation AS
SELECT source.id                                      AS "in",
       target.id                                      AS "out",
       CASE relation.kind WHEN 0 THEN 'contradicts' WHEN 1 THEN 'supports' WHEN 2 THEN 'supersedes'
                          WHEN 3 THEN 'caused_by' WHEN 4 THEN 'depends_on' WHEN 5 THEN 'part_of'
                          ELSE 'implements' END       AS relation,
       scope.path                                     AS scopeId,
       strftime('%Y-%m-%dT%H:%M:%fZ', relation.learned_at / 1e6, 'unixepoch') AS createdAt
FROM relation
JOIN record AS source ON source.pk = relation.source
JOIN record AS target ON target.pk = relation.target
JOIN scope ON scope.pk = relation.scope
WHERE relation.retired_at IS NULL;

-- An older program that still has the file open knows nothing of them: what it would write could not
-- be told from damage, so it is refused. (Into the other two tables it writes too few columns.)
CREATE TRIGGER session_sealed BEFORE INSERT ON session WHEN length(NEW.checksum) = 0 BEGIN
  SELECT RAISE(ABORT, 'a newer standfast has brought this file up to date; restart with that one');
END;
CREATE TRIGGER summary_sealed BEFORE INSERT ON summary WHEN length(NEW.checksum) = 0 BEGIN
  SELECT RAISE(ABORT, 'a newer standfast has brought this file up to date; restart with that one');
END;
