-- The tables of Lota's description, to be read: its names for what is in record and relation.

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
