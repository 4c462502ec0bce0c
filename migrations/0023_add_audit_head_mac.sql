-- HMAC-SHA-256 over the head, by a key that is kept outside the file: who can write the file, but has no key, can neither
-- write the log anew nor cut it. Null: the log is not signed.
ALTER TABLE audit_head ADD COLUMN mac BLOB;
