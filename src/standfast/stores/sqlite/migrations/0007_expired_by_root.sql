-- What has expired in one root, or is to be looked at again there, is found past all that others
-- have left.

CREATE INDEX record_expires_in_root ON record (root, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX record_review_in_root ON record (root, review_at)
  WHERE review_at IS NOT NULL AND status IN (0, 3, 4);
CREATE INDEX item_expires_in_root ON item (root, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX message_expires_in_session ON message (session, expires_at)
  WHERE expires_at IS NOT NULL;
