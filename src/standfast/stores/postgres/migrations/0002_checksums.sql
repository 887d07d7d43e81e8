-- Sessions, summaries, relations and items with a checksum of the whole row, as records and messages
-- have one; see stores/rows.py. What is there already is sealed in the same transaction (migrate.py).
-- An older standfast knows nothing of them: what it would write could not be told from damage. So it
-- refuses to open the database, and if it has it open, its writes fail for want of a checksum.

ALTER TABLE session ADD COLUMN checksum BYTEA NOT NULL DEFAULT '';
ALTER TABLE summary ADD COLUMN checksum BYTEA NOT NULL DEFAULT '';
ALTER TABLE relation ADD COLUMN checksum BYTEA NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN checksum BYTEA NOT NULL DEFAULT '';
ALTER TABLE session ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE summary ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE relation ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE item ALTER COLUMN checksum DROP DEFAULT;

-- Of a record that was changed since it was made, older programs kept the checksum of its first state:
-- only that of what never changes is right, until it is changed again.
UPDATE record SET checksum = substring(checksum FOR 8) WHERE version > 1 AND length(checksum) > 8;

INSERT INTO meta VALUES ('oldest', '2') ON CONFLICT (key) DO UPDATE SET value = excluded.value;
