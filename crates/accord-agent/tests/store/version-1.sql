-- A database as the first version of the schema left it: two sessions, one of them another one's child.
PRAGMA journal_mode = WAL;
CREATE TABLE sessions (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    parent TEXT,
    cwd TEXT NOT NULL,
    created INTEGER NOT NULL,
    title TEXT,
    updated INTEGER
) STRICT;
CREATE INDEX sessions_listed ON sessions (created DESC, id DESC) WHERE parent IS NULL;
CREATE INDEX sessions_of_cwd ON sessions (cwd, created DESC, id DESC) WHERE parent IS NULL;
CREATE INDEX sessions_of_parent ON sessions (parent, created DESC, id DESC) WHERE parent IS NOT NULL;
CREATE TABLE records (
    session INTEGER NOT NULL REFERENCES sessions (row),
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
INSERT INTO sessions VALUES (1, 'old', NULL, '/dir', 1700000000000, 'An old title', 1700000000500);
INSERT INTO sessions VALUES (2, 'child', 'old', '/dir', 1700000000100, NULL, NULL);
INSERT INTO records VALUES (1, 1, '{"update":{"sessionUpdate":"session_info_update","title":"An old title"}}');
INSERT INTO records VALUES (1, 2, '{"config":{"model":"m"}}');
INSERT INTO records VALUES (1, 3, '{"turn_end":{"stop":"end_turn","at":1700000000500,"title":"An old title"}}');
INSERT INTO records VALUES (2, 1, '{"backend":{"role":"user"}}');
PRAGMA user_version = 1;
