-- SHA-256 of what a remembered batch held, so that its number is not taken for other content. NULL: not known.
ALTER TABLE batch_receipt ADD COLUMN content_sha256 BLOB;
