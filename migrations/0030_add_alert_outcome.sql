-- How it stood when the alert closed, in one sentence; NULL while it is open, and where there is nothing to say.
ALTER TABLE alert ADD COLUMN outcome TEXT;
