-- The first shape of the database. Everything is in the schema of the search path (see connection.py).
--
-- Times are microseconds since 1970 (UTC). Names of kinds, types, states and so on are small numbers,
-- listed in stores/rows.py and again in the views below. Texts are compared byte by byte (C), which is
-- the order of Python. Every key begins with the root, so that the tables can be spread by it.

CREATE TABLE meta (
  key   TEXT COLLATE "C" PRIMARY KEY,
  value TEXT NOT NULL
);

-- head: number of the last journal entry. stamp: counts every change of searchable rows, sweeps
-- included. made: how many records it ever had. A commit locks its row first: that is the order of
-- the journal. until: when somebody should go through it again; news: has more happened since
-- somebody did; pruned: how many entries its journal has lost on purpose.
CREATE TABLE root (
  name   TEXT COLLATE "C" PRIMARY KEY,
  head   BIGINT NOT NULL DEFAULT 0,
  stamp  BIGINT NOT NULL DEFAULT 0,
  made   BIGINT NOT NULL DEFAULT 0,
  until  BIGINT NOT NULL DEFAULT 0,
  news   BOOLEAN NOT NULL DEFAULT false,
  pruned BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX root_until ON root (until, name);
CREATE INDEX root_news ON root (name) WHERE news;

CREATE TABLE scope (
  root  TEXT COLLATE "C" NOT NULL,
  path  TEXT COLLATE "C" NOT NULL,
  stamp BIGINT NOT NULL,
  PRIMARY KEY (root, path)
) WITH (fillfactor = 50);

-- cursors: {"reader": position}. behind: is one of them before last_seq?
CREATE TABLE session (
  root       TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  last_seq   BIGINT NOT NULL,
  cursors    JSON NOT NULL,
  behind     BOOLEAN NOT NULL,
  channel    TEXT NOT NULL,
  policy     TEXT NOT NULL,
  state      JSON NOT NULL,
  started_at BIGINT,
  ended_at   BIGINT,
  version    BIGINT NOT NULL,
  PRIMARY KEY (root, scope, id)
);
CREATE INDEX session_behind ON session (root, scope, id) WHERE behind;

CREATE TABLE message (
  root       TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  session    TEXT COLLATE "C" NOT NULL,
  seq        BIGINT NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  role       SMALLINT NOT NULL,
  at         BIGINT NOT NULL,
  utc_offset INTEGER NOT NULL,
  author     TEXT NOT NULL,
  source     SMALLINT NOT NULL,
  trust      SMALLINT NOT NULL,
  pending    SMALLINT NOT NULL,
  expires_at BIGINT,
  calls      JSON NOT NULL,
  answers    JSON NOT NULL,
  text       TEXT NOT NULL,
  original   TEXT NOT NULL,
  checksum   BYTEA NOT NULL,
  PRIMARY KEY (root, scope, session, seq),
  UNIQUE (root, scope, session, id)
);
CREATE INDEX message_expires ON message (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE summary (
  root       TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  session    TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  from_seq   BIGINT NOT NULL,
  to_seq     BIGINT NOT NULL,
  how        SMALLINT NOT NULL,
  learned_at BIGINT NOT NULL,
  lineage    JSON NOT NULL,
  text       TEXT NOT NULL,
  PRIMARY KEY (root, id)
);
CREATE UNIQUE INDEX summary_id ON summary (id);
CREATE INDEX summary_of_session ON summary (root, scope, session, to_seq);

-- The few spaces of vectors, of whatever root.
CREATE TABLE space (
  name       TEXT COLLATE "C" PRIMARY KEY,
  dimensions INTEGER NOT NULL
);

-- key: numbers the records of a root as they are made. changed: the root's stamp at the last change
-- that a search index must see. space: that of the newest vector. single: no other record of its scope
-- may have this hash. words, terms, labels: see index/derived.py; hashes: those of the terms.
CREATE TABLE record (
  root          TEXT COLLATE "C" NOT NULL,
  id            TEXT COLLATE "C" NOT NULL,
  key           BIGINT NOT NULL,
  scope         TEXT COLLATE "C" NOT NULL,
  version       BIGINT NOT NULL,
  changed       BIGINT NOT NULL,
  space         TEXT COLLATE "C",
  kind          SMALLINT NOT NULL,
  type          SMALLINT NOT NULL,
  status        SMALLINT NOT NULL,
  source        SMALLINT NOT NULL,
  durability    SMALLINT NOT NULL,
  trust         SMALLINT NOT NULL,
  importance    DOUBLE PRECISION NOT NULL,
  confidence    DOUBLE PRECISION NOT NULL,
  learned_at    BIGINT NOT NULL,
  retired_at    BIGINT,
  valid_from    BIGINT,
  valid_to      BIGINT,
  expires_at    BIGINT,
  review_at     BIGINT,
  uses          BIGINT NOT NULL,
  used_at       BIGINT,
  single        SMALLINT NOT NULL,
  words         INTEGER NOT NULL,
  author        TEXT COLLATE "C" NOT NULL,
  origin        TEXT COLLATE "C" NOT NULL,
  session       TEXT COLLATE "C" NOT NULL,
  session_scope TEXT COLLATE "C" NOT NULL,
  hash          TEXT COLLATE "C" NOT NULL,
  checksum      BYTEA NOT NULL,
  labels        BYTEA NOT NULL,
  terms         BYTEA NOT NULL,
  hashes        BIGINT[] NOT NULL,
  tags          JSON NOT NULL,
  lineage       JSON NOT NULL,
  derived_from  JSON NOT NULL,
  data          JSON NOT NULL,
  text          TEXT NOT NULL,
  PRIMARY KEY (root, id)
);
CREATE UNIQUE INDEX record_key ON record (root, key);
-- An id is of one root only. (Where the tables are spread over servers: of its root, see scale-out.md.)
CREATE UNIQUE INDEX record_id ON record (id);
CREATE INDEX record_changed ON record (root, scope, changed);
CREATE INDEX record_by_id ON record (root, scope, id);
CREATE UNIQUE INDEX record_single ON record (root, scope, hash) WHERE single = 1;
CREATE INDEX record_hash ON record (root, hash) WHERE hash <> '';
CREATE INDEX record_origin ON record (root, origin) WHERE origin <> '';
CREATE INDEX record_expires ON record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX record_review ON record (review_at) WHERE review_at IS NOT NULL AND status IN (0, 3, 4);
CREATE INDEX record_space ON record (space, root);
CREATE INDEX record_hashes ON record USING gin (hashes);
CREATE INDEX record_turn ON record (root, scope, session, (coalesce(valid_from, learned_at)), key)
  WHERE type = 0 AND session <> '';

-- What a record was made from. source 0: a message, 1: another record.
CREATE TABLE lineage (
  root   TEXT COLLATE "C" NOT NULL,
  source SMALLINT NOT NULL,
  ref    TEXT COLLATE "C" NOT NULL,
  record BIGINT NOT NULL,
  PRIMARY KEY (root, source, ref, record)
);
CREATE INDEX lineage_record ON lineage (root, record);

CREATE TABLE relation (
  root       TEXT COLLATE "C" NOT NULL,
  source     TEXT COLLATE "C" NOT NULL,
  kind       SMALLINT NOT NULL,
  target     TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  learned_at BIGINT NOT NULL,
  retired_at BIGINT,
  version    BIGINT NOT NULL,
  lineage    JSON NOT NULL,
  PRIMARY KEY (root, source, kind, target)
);
CREATE INDEX relation_target ON relation (root, target);

-- small: the same in one byte per number, see index/derived.py.
CREATE TABLE embedding (
  root   TEXT COLLATE "C" NOT NULL,
  scope  TEXT COLLATE "C" NOT NULL,
  space  TEXT COLLATE "C" NOT NULL,
  record BIGINT NOT NULL,
  small  BYTEA NOT NULL,
  vector VECTOR NOT NULL,
  PRIMARY KEY (root, scope, space, record)
);
CREATE INDEX embedding_record ON embedding (root, record);

-- Records that are gone, so that search indexes in other processes drop them; record 0 tells them to
-- load the scope anew.
CREATE TABLE erased (
  root   TEXT COLLATE "C" NOT NULL,
  scope  TEXT COLLATE "C" NOT NULL,
  stamp  BIGINT NOT NULL,
  record BIGINT NOT NULL,
  PRIMARY KEY (root, scope, stamp, record)
);

CREATE TABLE item (
  root       TEXT COLLATE "C" NOT NULL,
  namespace  TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  key        TEXT COLLATE "C" NOT NULL,
  version    BIGINT NOT NULL,
  expires_at BIGINT,
  value      JSON NOT NULL,
  PRIMARY KEY (root, namespace, scope, key)
);
CREATE INDEX item_expires ON item (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE journal (
  root   TEXT COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  at     BIGINT NOT NULL,
  batch  TEXT COLLATE "C" NOT NULL,
  change TEXT COLLATE "C" NOT NULL,
  reason TEXT NOT NULL,
  actor  TEXT NOT NULL,
  PRIMARY KEY (root, seq)
);
CREATE UNIQUE INDEX journal_batch ON journal (root, batch);
CREATE INDEX journal_change ON journal (change, root, seq);

-- also: a second thing that a touch mentions (its session; the target of a relation), because what is
-- erased is wiped from before and after.
CREATE TABLE touch (
  root   TEXT COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  place  INTEGER NOT NULL,
  kind   SMALLINT NOT NULL,
  scope  TEXT COLLATE "C" NOT NULL,
  ref    TEXT COLLATE "C" NOT NULL,
  also   TEXT COLLATE "C",
  before JSON,
  after  JSON,
  PRIMARY KEY (root, seq, place)
);
CREATE INDEX touch_ref ON touch (ref, root, seq);
CREATE INDEX touch_also ON touch (root, also) WHERE also IS NOT NULL;

-- What the store knows about itself, of no root. Versions never come again.
CREATE SEQUENCE registry_version;
CREATE TABLE registry (
  key        TEXT COLLATE "C" PRIMARY KEY,
  version    BIGINT NOT NULL,
  expires_at BIGINT,
  value      JSON NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX registry_expires ON registry (expires_at) WHERE expires_at IS NOT NULL;

CREATE VIEW working_memory_summaries AS
SELECT summary.id, summary.scope, summary.session AS conversation_id,
       coalesce(session.channel, '') AS channel, summary.text AS summary,
       summary.from_seq, summary.to_seq,
       CASE summary.how WHEN 0 THEN 'model' ELSE 'extract' END AS how,
       to_timestamp(summary.learned_at / 1e6) AS created_at
FROM summary LEFT JOIN session ON session.root = summary.root AND session.scope = summary.scope
  AND session.id = summary.session;

-- Every record that is there, with names instead of numbers: the table that a search speaks of.
CREATE VIEW memory AS
SELECT record.id, record.root, record.scope, record.text AS content,
       (ARRAY['episodic', 'semantic', 'procedural'])[record.kind + 1] AS kind,
       (ARRAY['turn', 'episode', 'summary', 'interaction', 'fact', 'preference', 'user_request',
              'entity', 'interest', 'procedure'])[record.type + 1] AS type,
       (ARRAY['active', 'superseded', 'archived', 'disputed', 'quarantined'])[record.status + 1]
         AS status,
       (ARRAY['user', 'assistant', 'tool', 'web', 'import', 'file', 'system'])[record.source + 1]
         AS source,
       (ARRAY['core', 'standard', 'ephemeral'])[record.durability + 1] AS durability,
       record.importance, record.confidence, record.tags, record.data, record.session, record.uses,
       to_timestamp(record.used_at / 1e6) AS last_used_at,
       to_timestamp(coalesce(record.valid_from, record.learned_at) / 1e6) AS happened_at,
       to_timestamp(record.learned_at / 1e6) AS created_at
FROM record
WHERE record.expires_at IS NULL OR record.expires_at > extract(epoch FROM now()) * 1e6;

CREATE VIEW "memoryRelation" AS
SELECT root, scope, source, target,
       (ARRAY['contradicts', 'supports', 'supersedes', 'caused_by', 'depends_on', 'part_of',
              'implements'])[kind + 1] AS kind,
       to_timestamp(learned_at / 1e6) AS created_at, to_timestamp(retired_at / 1e6) AS retired_at
FROM relation;

CREATE VIEW semantic_memory AS
SELECT id, scope, content, type AS category, confidence, importance, source, tags, created_at
FROM memory WHERE kind = 'semantic' AND status IN ('active', 'disputed');

CREATE VIEW episodic_memory AS
SELECT memory.id, memory.scope, memory.content AS summary, memory.type AS category,
       memory.importance, memory.confidence, memory.source, memory.session AS conversation_id,
       coalesce(memory.data ->> 'channel', session.channel, '') AS channel, memory.tags,
       memory.happened_at, memory.created_at
FROM memory LEFT JOIN session ON session.root = memory.root AND session.scope = memory.scope
  AND session.id = memory.session
WHERE memory.kind = 'episodic' AND memory.type <> 'turn' AND memory.status IN ('active', 'disputed');

CREATE VIEW procedural_memory AS
SELECT id, scope, coalesce(data ->> 'name', content) AS name, content,
       coalesce(data -> 'steps', '[]') AS steps, coalesce(data -> 'triggers', '[]') AS triggers,
       uses AS usage_count, last_used_at, confidence, importance, tags, created_at
FROM memory WHERE kind = 'procedural' AND status IN ('active', 'disputed');
