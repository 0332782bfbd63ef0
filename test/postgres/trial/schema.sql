-- The part of the schema that claim, settle and rescue touch, as PostgreSQL will have it.
CREATE SCHEMA millrace;

CREATE TABLE millrace.job (
    key          bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid    NOT NULL UNIQUE,
    type         integer NOT NULL,
    tenant       integer NOT NULL,
    lane         integer NOT NULL,
    priority     integer NOT NULL CHECK (priority >= 0),
    run_at       timestamptz(3) NOT NULL,
    max_attempts integer NOT NULL CHECK (max_attempts >= 1),
    payload      jsonb
);

CREATE TABLE millrace.ready (
    key      bigint  PRIMARY KEY,
    lane     integer NOT NULL,
    priority integer NOT NULL,
    rank     bigint  NOT NULL,
    type     integer NOT NULL,
    tenant   integer NOT NULL,
    n        integer NOT NULL CHECK (n >= 1),
    tries    integer NOT NULL CHECK (tries >= 0),
    crashes  integer NOT NULL CHECK (crashes >= 0)
);

CREATE INDEX ready_order ON millrace.ready (lane, priority, rank, key);

CREATE TABLE millrace.scheduled (
    key      bigint  PRIMARY KEY,
    run_at   timestamptz(3) NOT NULL,
    lane     integer NOT NULL,
    priority integer NOT NULL,
    type     integer NOT NULL,
    tenant   integer NOT NULL,
    n        integer NOT NULL CHECK (n >= 1),
    tries    integer NOT NULL CHECK (tries >= 0),
    crashes  integer NOT NULL CHECK (crashes >= 0)
);

CREATE TABLE millrace.lease (
    number     bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret     text     NOT NULL,
    worker     uuid     NOT NULL,
    keys       bigint[] NOT NULL CHECK (cardinality(keys) BETWEEN 1 AND 500),
    ns         integer[] NOT NULL CHECK (cardinality(ns) = cardinality(keys)),
    claimed_at timestamptz(3) NOT NULL,
    started_at timestamptz(3)
) WITH (fillfactor = 50, toast_tuple_target = 8160);

CREATE TABLE millrace.attempt (
    key         bigint   NOT NULL,
    n           integer  NOT NULL CHECK (n >= 1),
    tries       integer  NOT NULL CHECK (tries BETWEEN 0 AND n),
    crashes     integer  NOT NULL CHECK (crashes BETWEEN 0 AND n),
    fence       bigint,
    started_at  timestamptz(3),
    finished_at timestamptz(3) NOT NULL,
    outcome     smallint NOT NULL CHECK (outcome BETWEEN 1 AND 7),
    state       smallint CHECK (state BETWEEN 4 AND 7),
    next_run_at timestamptz(3),
    PRIMARY KEY (key, n),
    CHECK ((state IS NULL) = (next_run_at IS NOT NULL))
);

CREATE TABLE millrace.gate (
    name  integer PRIMARY KEY,
    until timestamptz(3)
);

CREATE TABLE millrace.worker (
    id    uuid   PRIMARY KEY,
    until timestamptz(3) NOT NULL,
    beats bigint NOT NULL
);
