-- What another index finds as well is left out of these: each costs nearly every write a page of its
-- own. A hash that nobody else may have is in record_single; what is no copy is found by its id.

DROP INDEX record_hash;
CREATE INDEX record_hash ON record (hash, scope) WHERE single = 0 AND hash <> '';
DROP INDEX record_origin;
CREATE INDEX record_origin ON record (origin, root) WHERE origin <> '' AND origin <> id;
