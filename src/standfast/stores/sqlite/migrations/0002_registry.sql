-- What the store knows about itself leaves the items and the journal (see upgrade.py).

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
