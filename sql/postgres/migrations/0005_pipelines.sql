-- What a run writes about itself while it goes on: how far it has come, the phases that it has
-- completed, and its units. The state of a phase is not stored: it follows from these and from the
-- state of the job.

-- One row per job that has told any progress, from its last run that did. Rewritten where it lies.
CREATE TABLE millrace.run (
    key     bigint  PRIMARY KEY,
    at      timestamptz(3) NOT NULL,
    percent double precision NOT NULL CHECK (percent BETWEEN 0 AND 100),
    overall double precision NOT NULL CHECK (overall BETWEEN 0 AND 100),
    n       integer NOT NULL CHECK (n >= 1),
    phase   text    CHECK (length(phase) BETWEEN 1 AND 200),
    phases  json    NOT NULL CHECK (json_typeof(phases) = 'array'),
    data    json
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- One row per phase that has ended well, by the run that completed it: 0 when it was taken over
-- from the job that this one repeats.
CREATE TABLE millrace.phase (
    key    bigint  NOT NULL,
    at     timestamptz(3) NOT NULL,
    n      integer NOT NULL CHECK (n >= 0),
    name   text    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    result json,
    PRIMARY KEY (key, name)
);

-- One row per unit, by the run that moved it last, or 0. State 1 is in progress.
CREATE TABLE millrace.unit (
    key    bigint   NOT NULL,
    at     timestamptz(3) NOT NULL,
    n      integer  NOT NULL CHECK (n >= 0),
    state  smallint NOT NULL CHECK (state BETWEEN 1 AND 3),
    phase  text     NOT NULL COLLATE "C" CHECK (length(phase) <= 200),
    unit   text     NOT NULL COLLATE "C" CHECK (length(unit) BETWEEN 1 AND 500),
    result json,
    error  json,
    PRIMARY KEY (key, phase, unit),
    CHECK ((state = 3) = (error IS NOT NULL)),
    CHECK (result IS NULL OR state = 2)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX unit_running ON millrace.unit (unit, key) WHERE state = 1;

-- The feed learns more kinds, and details: one for each job that it names.
ALTER TABLE millrace.event_outbox ADD COLUMN details text[];
ALTER TABLE millrace.event ADD COLUMN details text[];
ALTER TABLE millrace.event DROP CONSTRAINT event_kind_check;
ALTER TABLE millrace.event ADD CONSTRAINT event_kind_check CHECK (kind BETWEEN 1 AND 99) NOT VALID;
