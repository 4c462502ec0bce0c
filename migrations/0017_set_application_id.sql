-- "Hdrm": tells this file from another program's without a look at its tables.
PRAGMA application_id = 1214542445;
