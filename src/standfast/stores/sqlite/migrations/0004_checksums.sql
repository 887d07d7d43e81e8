-- Sessions, summaries, relations and items with a checksum of the whole row, as records and messages
-- have one; see stores/rows.py. What is there already is sealed in the same transaction (upgrade.py).

ALTER TABLE session ADD COLUMN checksum BLOB NOT NULL DEFAULT x'';
ALTER TABLE summary ADD COLUMN checksum BLOB NOT NULL DEFAULT x'';
ALTER TABLE relation ADD COLUMN checksum BLOB NOT NULL DEFAULT x'';
ALTER TABLE item ADD COLUMN checksum BLOB NOT NULL DEFAULT x'';

-- An older program that still has the file open knows nothing of them: what it would write could not
-- be told from damage, so it is refused. (Into the other two tables it writes too few columns.)
CREATE TRIGGER session_sealed BEFORE INSERT ON session WHEN length(NEW.checksum) = 0 BEGIN
  SELECT RAISE(ABORT, 'a newer standfast has brought this file up to date; restart with that one');
END;
CREATE TRIGGER summary_sealed BEFORE INSERT ON summary WHEN length(NEW.checksum) = 0 BEGIN
  SELECT RAISE(ABORT, 'a newer standfast has brought this file up to date; restart with that one');
END;
