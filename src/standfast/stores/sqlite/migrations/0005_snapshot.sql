-- The search index of a scope as it was at a stamp, so that a new process need not build it.

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
