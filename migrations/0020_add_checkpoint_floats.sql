-- Clocks and floor accounts of the pools' floats, as the loop encodes them.
ALTER TABLE checkpoint ADD COLUMN floats BLOB NOT NULL DEFAULT X'';
