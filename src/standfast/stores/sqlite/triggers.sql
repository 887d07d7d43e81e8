-- What hangs on rows, for the one connection that writes. These views and triggers are TEMP: they
-- are no part of the file. A commit puts values into a view; the rows it stands for follow, in the
-- same statement, without the way through Python for each.

CREATE TEMP TRIGGER record_made AFTER INSERT ON main.record BEGIN
  UPDATE scope SET stamp = NEW.changed WHERE pk = NEW.scope AND stamp < NEW.changed;
END;

CREATE TEMP TRIGGER record_from_messages AFTER INSERT ON main.record WHEN NEW.lineage <> '[]' BEGIN
  INSERT OR IGNORE INTO lineage SELECT NEW.root, 0, value, NEW.pk FROM json_each(NEW.lineage);
END;

CREATE TEMP TRIGGER record_from_records AFTER INSERT ON main.record
WHEN NEW.derived_from <> '[]' BEGIN
  INSERT OR IGNORE INTO lineage SELECT NEW.root, 1, value, NEW.pk FROM json_each(NEW.derived_from);
END;

CREATE TEMP TRIGGER record_changed AFTER UPDATE OF changed ON main.record BEGIN
  UPDATE scope SET stamp = NEW.changed WHERE pk = NEW.scope AND stamp < NEW.changed;
END;

-- The root's stamp has been raised before; vectors and relations go by their foreign keys.
CREATE TEMP TRIGGER record_gone AFTER DELETE ON main.record BEGIN
  DELETE FROM lineage WHERE root = OLD.root AND source = 0 AND record = OLD.pk
    AND ref IN (SELECT value FROM json_each(OLD.lineage));
  DELETE FROM lineage WHERE root = OLD.root AND source = 1 AND record = OLD.pk
    AND ref IN (SELECT value FROM json_each(OLD.derived_from));
  INSERT INTO erased SELECT OLD.scope, stamp, OLD.pk FROM root WHERE pk = OLD.root;
  UPDATE scope SET stamp = (SELECT stamp FROM root WHERE pk = OLD.root) WHERE pk = OLD.scope;
END;

-- A vector of a record that was there before.
CREATE TEMP VIEW embedding AS
SELECT '' AS record, 0 AS space, 0 AS changed, x'' AS f32, 0 AS checksum;

CREATE TEMP TRIGGER embedding_put INSTEAD OF INSERT ON embedding BEGIN
  INSERT INTO vector (record, space, f32, checksum)
    SELECT pk, NEW.space, NEW.f32, NEW.checksum FROM record WHERE id = NEW.record
    ON CONFLICT (record, space) DO UPDATE SET f32 = excluded.f32, checksum = excluded.checksum;
  UPDATE record SET space = NEW.space, changed = NEW.changed
    WHERE id = NEW.record AND (space IS NOT NEW.space OR changed <> NEW.changed);
END;

-- A session with its readers: {"reader": position}.
CREATE TEMP VIEW talk AS
SELECT 0 AS scope, '' AS id, 0 AS last_seq, '' AS channel, '' AS policy, '{}' AS state,
       0 AS started_at, 0 AS ended_at, 0 AS version, '{}' AS cursors, x'' AS checksum;

CREATE TEMP TRIGGER talk_put INSTEAD OF INSERT ON talk BEGIN
  INSERT INTO session (scope, id, last_seq, channel, policy, state, started_at, ended_at, version,
                       checksum)
    VALUES (NEW.scope, NEW.id, NEW.last_seq, NEW.channel, NEW.policy, NEW.state, NEW.started_at,
            NEW.ended_at, NEW.version, NEW.checksum)
    ON CONFLICT (scope, id) DO UPDATE SET
      last_seq = excluded.last_seq, channel = excluded.channel, policy = excluded.policy,
      state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
      version = excluded.version, checksum = excluded.checksum;
  INSERT OR REPLACE INTO cursor
    SELECT session.pk, reader.key, reader.value, reader.value < NEW.last_seq
    FROM session CROSS JOIN json_each(NEW.cursors) AS reader
    WHERE session.scope = NEW.scope AND session.id = NEW.id;
END;

-- An entry of the journal, and the root's new numbers.
CREATE TEMP VIEW entry AS
SELECT 0 AS root, 0 AS seq, 0 AS at, '' AS batch, '' AS change, '' AS reason, '' AS actor,
       0 AS stamp;

CREATE TEMP TRIGGER entry_put INSTEAD OF INSERT ON entry BEGIN
  UPDATE root SET head = NEW.seq, stamp = NEW.stamp WHERE pk = NEW.root;
  INSERT INTO journal
    VALUES (NEW.root, NEW.seq, NEW.at, NEW.batch, NEW.change, NEW.reason, NEW.actor);
END;
