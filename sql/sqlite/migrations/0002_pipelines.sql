-- What a run writes about itself while it goes on: how far it has come, the phases that it has
-- completed, and its units. The state of a phase is not stored: it follows from these and from the
-- state of the job.

-- One row per job that has told any progress, from its last run that did.
CREATE TABLE millrace_run (
    key     INTEGER PRIMARY KEY,
    n       INTEGER NOT NULL CHECK (n >= 1),
    phase   TEXT    CHECK (length(phase) BETWEEN 1 AND 200),
    phases  TEXT    NOT NULL CHECK (json_type(phases) = 'array'),
    percent REAL    NOT NULL CHECK (percent BETWEEN 0 AND 100),
    overall REAL    NOT NULL CHECK (overall BETWEEN 0 AND 100),
    data    TEXT    CHECK (json_valid(data)),
    at      INTEGER NOT NULL
) STRICT;

-- One row per phase that has ended well, by the run that completed it: 0 when it was taken over
-- from the job that this one repeats.
CREATE TABLE millrace_phase (
    key    INTEGER NOT NULL,
    name   TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    n      INTEGER NOT NULL CHECK (n >= 0),
    result TEXT    CHECK (json_valid(result)),
    at     INTEGER NOT NULL,
    PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;

-- One row per unit, by the run that moved it last, or 0. State 1 is in progress.
CREATE TABLE millrace_unit (
    key    INTEGER NOT NULL,
    phase  TEXT    NOT NULL CHECK (length(phase) <= 200),
    unit   TEXT    NOT NULL CHECK (length(unit) BETWEEN 1 AND 500),
    n      INTEGER NOT NULL CHECK (n >= 0),
    state  INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3),
    result TEXT    CHECK (json_valid(result)),
    error  TEXT    CHECK (json_valid(error)),
    at     INTEGER NOT NULL,
    PRIMARY KEY (key, phase, unit),
    CHECK ((state = 3) = (error IS NOT NULL)),
    CHECK (result IS NULL OR state = 2)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_unit_running ON millrace_unit (unit, key) WHERE state = 1;

-- The feed learns more kinds, and details: one for each job that it names. Positions go on where
-- they were, also when every entry has expired its time.
CREATE TABLE millrace_feed (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 99),
    at       INTEGER NOT NULL,
    keys     TEXT    CHECK (json_type(keys) = 'array'),
    ids      TEXT    CHECK (json_type(ids) = 'array'),
    details  TEXT    CHECK (json_type(details) = 'array'),
    CHECK ((keys IS NULL) <> (ids IS NULL))
) STRICT;

INSERT INTO sqlite_sequence (name, seq)
SELECT 'millrace_feed', seq FROM sqlite_sequence WHERE name = 'millrace_event';
INSERT INTO millrace_feed (position, kind, at, keys, ids)
SELECT position, kind, at, keys, ids FROM millrace_event;
DROP TABLE millrace_event;
ALTER TABLE millrace_feed RENAME TO millrace_event;

CREATE INDEX millrace_event_at ON millrace_event (at);
