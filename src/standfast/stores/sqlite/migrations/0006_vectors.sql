-- A vector is kept once, with a checksum. The same in one byte per number, which a search scans, is
-- made of it, or stands in the snapshot.

ALTER TABLE vector ADD COLUMN checksum INTEGER;

DROP TABLE quantised;
