-- Where a job waits, the ledger of its runs, and what blocks it. Times are milliseconds since the
-- epoch; ranks are microseconds; enums are small integers whose meaning is in
-- store/shared/codes.ts; arrays are JSON text. `job` and `attempt` are insert-only: the state of a
-- job is its place, or how its last attempt ended.

CREATE TABLE millrace_meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Types, tenants, lanes, categories and services as integers. One id space for all, so that a gate
-- is just an interned name. Kind 6 is a tenant and a service: the id of the tenant, a dot, the name
-- of the service.
CREATE TABLE millrace_interned_name (
    id   INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 6),
    text TEXT    NOT NULL CHECK (length(text) BETWEEN 1 AND 220),
    UNIQUE (kind, text),
    CHECK (kind = 6 OR length(text) <= 200)
) STRICT;

-- The spec of a job. Written once, never updated. AUTOINCREMENT: a key is never used again, not
-- even when the newest job is removed. The bounds keep every number within what JavaScript reads
-- exactly.
CREATE TABLE millrace_job (
    key             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    type            INTEGER NOT NULL,
    tenant          INTEGER NOT NULL,
    lane            INTEGER NOT NULL,
    category        INTEGER,
    priority        INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 1000000000),
    run_at          INTEGER NOT NULL CHECK (run_at BETWEEN 0 AND 9000000000000),
    max_attempts    INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000000000),
    timeout_ms      INTEGER CHECK (timeout_ms BETWEEN 1 AND 9000000000000),
    payload         TEXT    CHECK (json_valid(payload)),
    payload_version TEXT,
    correlation     TEXT    CHECK (length(correlation) BETWEEN 1 AND 200),
    parent          BLOB    CHECK (length(parent) = 16),
    retry_of        BLOB    CHECK (length(retry_of) = 16),
    concurrency     TEXT    CHECK (length(concurrency) BETWEEN 1 AND 500),
    idempotency     TEXT    CHECK (length(idempotency) BETWEEN 1 AND 500),
    dedup           TEXT    CHECK (length(dedup) BETWEEN 1 AND 500),
    webhook         TEXT,
    tags            TEXT    CHECK (json_type(tags) = 'object'),
    created_by      TEXT,
    created_at      INTEGER NOT NULL,
    flags           INTEGER NOT NULL CHECK (flags BETWEEN 0 AND 3)
) STRICT;

CREATE INDEX millrace_job_type ON millrace_job (type, key);
-- Interned name 1 is the default tenant: an installation without tenants pays nothing for the
-- index.
CREATE INDEX millrace_job_tenant ON millrace_job (tenant, key) WHERE tenant <> 1;
CREATE INDEX millrace_job_category ON millrace_job (category, key) WHERE category IS NOT NULL;
CREATE INDEX millrace_job_correlation ON millrace_job (correlation, key)
    WHERE correlation IS NOT NULL;
CREATE INDEX millrace_job_parent ON millrace_job (parent, key) WHERE parent IS NOT NULL;
CREATE INDEX millrace_job_retry_of ON millrace_job (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE millrace_tag (
    name  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    key   INTEGER NOT NULL,
    PRIMARY KEY (name, value, key)
) STRICT, WITHOUT ROWID;

-- Three places where a job waits. `n` is the number that its next run will have in the ledger,
-- `tries` the attempts charged so far, `crashes` the crashes of its workers.
CREATE TABLE millrace_scheduled (
    key         INTEGER PRIMARY KEY,
    run_at      INTEGER NOT NULL CHECK (run_at BETWEEN 0 AND 9000000000000),
    lane        INTEGER NOT NULL,
    priority    INTEGER NOT NULL CHECK (priority >= 0),
    type        INTEGER NOT NULL,
    tenant      INTEGER NOT NULL,
    concurrency TEXT,
    n           INTEGER NOT NULL CHECK (n >= 1),
    tries       INTEGER NOT NULL CHECK (tries >= 0),
    crashes     INTEGER NOT NULL CHECK (crashes >= 0)
) STRICT;

CREATE INDEX millrace_scheduled_due ON millrace_scheduled (run_at, key);

-- Jobs with each number of crashes are apart in the order: however many jobs have crashed before, a
-- claim of others does not meet them. The rank of a job is its due time in microseconds. In a fair
-- lane, `giveTurns` replaces it by a turn, which is below 0: then `due` is the due time.
CREATE TABLE millrace_ready (
    lane        INTEGER NOT NULL,
    crashes     INTEGER NOT NULL CHECK (crashes >= 0),
    priority    INTEGER NOT NULL CHECK (priority >= 0),
    rank        INTEGER NOT NULL CHECK (rank BETWEEN -4000000000000000 AND 9000000000000000),
    key         INTEGER NOT NULL UNIQUE,
    type        INTEGER NOT NULL,
    tenant      INTEGER NOT NULL,
    concurrency TEXT,
    n           INTEGER NOT NULL CHECK (n >= 1),
    tries       INTEGER NOT NULL CHECK (tries >= 0),
    due         INTEGER CHECK (due BETWEEN 0 AND 9000000000000),
    PRIMARY KEY (lane, crashes, priority, rank, key),
    CHECK ((due IS NOT NULL) = (rank < 0))
) STRICT, WITHOUT ROWID;

-- The oldest of the jobs that have a turn.
CREATE INDEX millrace_ready_due ON millrace_ready (lane, priority, due) WHERE due IS NOT NULL;

-- The rank is the due time in microseconds. `turn` is the turn of a job of a fair lane in the queue
-- of a limit (gates below -2), in place of its rank.
CREATE TABLE millrace_blocked (
    key         INTEGER PRIMARY KEY,
    gate        INTEGER NOT NULL,
    lane        INTEGER NOT NULL,
    priority    INTEGER NOT NULL CHECK (priority >= 0),
    rank        INTEGER NOT NULL CHECK (rank BETWEEN 0 AND 9000000000000000),
    type        INTEGER NOT NULL,
    tenant      INTEGER NOT NULL,
    concurrency TEXT,
    n           INTEGER NOT NULL CHECK (n >= 1),
    tries       INTEGER NOT NULL CHECK (tries >= 0),
    crashes     INTEGER NOT NULL CHECK (crashes >= 0),
    turn        INTEGER CHECK (turn BETWEEN -4000000000000000 AND -1),
    turn_or_rank INTEGER GENERATED ALWAYS AS (coalesce(turn, rank)) VIRTUAL,
    CHECK (turn IS NULL OR gate < -2)
) STRICT;

CREATE INDEX millrace_blocked_gate ON millrace_blocked (gate, priority, rank, key);
-- The queues of limits, lane by lane: a claim does not meet jobs of lanes that it does not take.
CREATE INDEX millrace_blocked_queue
    ON millrace_blocked (gate, lane, priority, turn_or_rank, key)
    WHERE gate < -2;
-- The jobs of a lane in all queues, for `giveTurns`.
CREATE INDEX millrace_blocked_lane
    ON millrace_blocked (lane, priority, turn_or_rank, key)
    WHERE gate < -2;
-- The oldest of the jobs in queues that have a turn.
CREATE INDEX millrace_blocked_due ON millrace_blocked (lane, priority, rank)
    WHERE turn IS NOT NULL;
-- Jobs whose lock is taken are behind gate -1. The most urgent job of each key is released first.
CREATE INDEX millrace_blocked_key
    ON millrace_blocked (tenant, concurrency, priority, rank, key)
    WHERE gate = -1;
-- The types of the jobs behind each closed gate.
CREATE INDEX millrace_blocked_type ON millrace_blocked (gate, type) WHERE gate > 0;

-- One row per claimed batch, with four lists of equal length. A settle does not touch the row: a
-- run is unfinished while it has no ledger row. `starts` says how long after the claim each run
-- started, null while the job is prefetched; `ranks` are differences to the first of them. A lease
-- expires with its worker's `until`. `alone`: the one job of the lease runs while its process runs
-- nothing else.
CREATE TABLE millrace_lease (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    secret     TEXT    NOT NULL CHECK (length(secret) = 32),
    worker     BLOB    NOT NULL CHECK (length(worker) = 16),
    keys       TEXT    NOT NULL CHECK (json_array_length(keys) BETWEEN 1 AND 500),
    ns         TEXT    NOT NULL CHECK (json_array_length(ns) = json_array_length(keys)),
    ranks      TEXT    NOT NULL CHECK (json_array_length(ranks) = json_array_length(keys))
               CHECK (ranks ->> 0 >= 0),
    starts     TEXT    NOT NULL CHECK (json_array_length(starts) = json_array_length(keys)),
    claimed_at INTEGER NOT NULL,
    alone      INTEGER NOT NULL DEFAULT 0
               CHECK (alone = 0 OR (alone = 1 AND json_array_length(keys) = 1))
) STRICT;

CREATE INDEX millrace_lease_worker ON millrace_lease (worker);
-- One process at a time empties itself for a job that runs alone.
CREATE UNIQUE INDEX millrace_lease_alone ON millrace_lease (alone) WHERE alone = 1;

-- The ledger: one row per run that ended, and one for a wait that an operator ended.
CREATE TABLE millrace_attempt (
    key         INTEGER NOT NULL,
    n           INTEGER NOT NULL CHECK (n >= 1),
    tries       INTEGER NOT NULL CHECK (tries BETWEEN 0 AND n),
    crashes     INTEGER NOT NULL CHECK (crashes BETWEEN 0 AND n),
    worker      BLOB    CHECK (length(worker) = 16),
    fence       INTEGER,
    claimed_at  INTEGER,
    started_at  INTEGER,
    finished_at INTEGER NOT NULL,
    outcome     INTEGER NOT NULL CHECK (outcome BETWEEN 1 AND 7),
    state       INTEGER CHECK (state BETWEEN 4 AND 7),
    error_class INTEGER CHECK (error_class BETWEEN 1 AND 4),
    error       TEXT    CHECK (json_valid(error)),
    result      TEXT    CHECK (json_valid(result)),
    reason      TEXT,
    next_run_at INTEGER CHECK (next_run_at BETWEEN 0 AND 9000000000000),
    PRIMARY KEY (key, n),
    -- A job runs again exactly when this was not its end.
    CHECK ((state IS NULL) = (next_run_at IS NOT NULL)),
    -- A job that never started may be cancelled, or failed by an operator with a reason.
    CHECK (started_at IS NOT NULL OR outcome = 5 OR (outcome = 2 AND error IS NOT NULL)),
    -- A failed job has an error; only success has a result.
    CHECK (state IS NOT 6 OR error IS NOT NULL),
    CHECK (result IS NULL OR state IN (4, 5)),
    CHECK (reason IS NULL OR state = 7)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_attempt_finished ON millrace_attempt (state, finished_at);
CREATE INDEX millrace_attempt_unusual ON millrace_attempt (state, key) WHERE state > 4;

-- A closed gate blocks jobs until `until`, or until an operator opens it. An open gate keeps its
-- row only while jobs behind it have to be moved back. `closed_at` is when it was last closed. Gate
-- -2 is the gate of the whole installation: while it is closed, claims are empty, and no job is
-- moved behind it.
CREATE TABLE millrace_gate (
    name      INTEGER PRIMARY KEY,
    closed_at INTEGER NOT NULL,
    until     INTEGER,
    reason    TEXT NOT NULL,
    by        TEXT
) STRICT;

-- What the worker that joined last has declared about a type. Producers without the code of the
-- type read the row. Workers with different declarations of a type have different hashes.
CREATE TABLE millrace_type_setting (
    type           INTEGER PRIMARY KEY,
    lane           TEXT    NOT NULL CHECK (length(lane) BETWEEN 1 AND 200),
    priority       INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 1000000000),
    max_attempts   INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000000000),
    timeout_ms     INTEGER CHECK (timeout_ms BETWEEN 1 AND 9000000000000),
    category       TEXT    CHECK (length(category) BETWEEN 1 AND 200),
    payload_version TEXT   CHECK (length(payload_version) BETWEEN 1 AND 40),
    payload_schema TEXT    CHECK (json_valid(payload_schema)),
    app_version    TEXT    CHECK (length(app_version) BETWEEN 1 AND 200),
    flags          INTEGER NOT NULL DEFAULT 0 CHECK (flags BETWEEN 0 AND 3),
    hash           TEXT    NOT NULL CHECK (length(hash) = 64),
    declared_at    INTEGER NOT NULL
) STRICT;

-- What an operator has set in place of declared settings; null: the declaration counts. A time
-- limit of 0 means none.
CREATE TABLE millrace_type_override (
    type         INTEGER PRIMARY KEY,
    lane         TEXT    CHECK (length(lane) BETWEEN 1 AND 200),
    priority     INTEGER CHECK (priority BETWEEN 0 AND 1000000000),
    max_attempts INTEGER CHECK (max_attempts BETWEEN 1 AND 1000000000),
    timeout_ms   INTEGER CHECK (timeout_ms BETWEEN 0 AND 9000000000000),
    by           TEXT,
    set_at       INTEGER NOT NULL
) STRICT;

-- The services that the jobs of a type call, as the worker that joined last has declared them.
CREATE TABLE millrace_service_use (
    service INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    PRIMARY KEY (service, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_service_use_type ON millrace_service_use (type, service);

-- The circuit breaker of a service, shared by all workers. State 1 is closed, 2 open, 3 half-open.
-- A probe is due at `probe_at`; null: the breaker is not open, or an operator keeps it open. The
-- run of the probe is (`probe_key`, `probe_n`). `reason` and `by` say why the state is what it is.
CREATE TABLE millrace_breaker (
    service         INTEGER PRIMARY KEY,
    state           INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3),
    failure_count   INTEGER NOT NULL CHECK (failure_count >= 0),
    success_count   INTEGER NOT NULL CHECK (success_count >= 0),
    last_failure_at INTEGER,
    opened_at       INTEGER,
    half_opened_at  INTEGER,
    updated_at      INTEGER NOT NULL,
    probe_at        INTEGER,
    probe_key       INTEGER,
    probe_n         INTEGER,
    reason          TEXT,
    by              TEXT,
    CHECK ((state = 1) = (opened_at IS NULL)),
    CHECK (state = 2 OR probe_at IS NULL),
    CHECK ((state = 3) = (probe_key IS NOT NULL)),
    CHECK ((probe_key IS NULL) = (probe_n IS NULL))
) STRICT;

CREATE INDEX millrace_breaker_open ON millrace_breaker (service) WHERE state <> 1;

-- What has happened to breakers, numbered for each service. Retention removes old rows.
CREATE TABLE millrace_breaker_change (
    service       INTEGER NOT NULL,
    n             INTEGER NOT NULL CHECK (n >= 1),
    at            INTEGER NOT NULL,
    state         INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3),
    failure_count INTEGER NOT NULL CHECK (failure_count >= 0),
    reason        TEXT,
    by            TEXT,
    PRIMARY KEY (service, n)
) STRICT, WITHOUT ROWID;

-- Services that have asked for a pause (Retry-After): no job that uses one starts before `until`.
-- With a tenant, only jobs of this tenant wait. `gate` is the service, or with a tenant the
-- interned name of both. An expired row is deleted when its jobs were moved back. If
-- `asked_at` is in the future, the clock was ahead and went back: the pause is over.
CREATE TABLE millrace_service_park (
    gate     INTEGER PRIMARY KEY,
    service  INTEGER NOT NULL,
    tenant   INTEGER,
    asked_at INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    reason   TEXT    NOT NULL,
    CHECK ((tenant IS NULL) = (gate = service))
) STRICT;

-- Gates behind which jobs may wait: pauses, open breakers and services that have asked for a pause.
-- A gate is closed while `until` is null or in the future.
CREATE VIEW millrace_closed_gate AS
SELECT name AS gate, until FROM millrace_gate
UNION ALL
SELECT service, NULL FROM millrace_breaker WHERE state <> 1
UNION ALL
SELECT gate, until FROM millrace_service_park;

-- What a gate holds back: the jobs of the lane, type or tenant `target`. The gate of a service
-- holds back the types that use the service.
CREATE VIEW millrace_barrier AS
SELECT gate AS target, gate, until FROM millrace_closed_gate
UNION ALL
SELECT uses.type, closed.gate, closed.until
FROM millrace_closed_gate AS closed
CROSS JOIN millrace_service_use AS uses ON uses.service = closed.gate;

-- The same for the jobs of one tenant.
CREATE VIEW millrace_tenant_barrier AS
SELECT park.tenant, uses.type, park.gate, park.until
FROM millrace_service_park AS park
CROSS JOIN millrace_service_use AS uses ON uses.service = park.service
WHERE park.tenant IS NOT NULL;

-- Jobs behind the gate of a service that their type does not use, by gate and type: the declaration
-- of the type has changed. `release` moves these jobs back.
CREATE VIEW millrace_misplaced AS
SELECT closed.gate, setting.type
FROM (
    SELECT gate.gate, gate.gate AS service
    FROM millrace_closed_gate AS gate
    JOIN millrace_interned_name AS name ON name.id = gate.gate AND name.kind = 5
    UNION
    SELECT gate, service FROM millrace_service_park
) AS closed
CROSS JOIN millrace_type_setting AS setting
WHERE NOT EXISTS (
    SELECT 1
    FROM millrace_service_use AS uses
    WHERE uses.service = closed.service AND uses.type = setting.type
)
  AND EXISTS (
      SELECT 1
      FROM millrace_blocked AS blocked
      WHERE blocked.gate = closed.gate AND blocked.gate > 0 AND blocked.type = setting.type
  );

-- The hash of each declaration of a worker. The rows are deleted with the row of the worker.
CREATE TABLE millrace_worker_type (
    worker BLOB    NOT NULL CHECK (length(worker) = 16),
    type   INTEGER NOT NULL,
    hash   TEXT    NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (worker, type)
) STRICT, WITHOUT ROWID;

-- How many jobs of a type, a tenant, a service or the installation (name 0) may run at the same
-- time (`cap`), and how many may start in a period (`rate_count` in `rate_ms`, up to `burst` at
-- once; `tokens` were left at `refilled_at`). `used` is the sum of the permits that workers hold.
-- `wanted_at` is when a claim last found all permits taken. `code_rule` is the limit that the code
-- of the type states. It counts unless an operator has set the limit (owner 2). AUTOINCREMENT: a
-- limit that is set again is another one, of which no worker holds permits.
CREATE TABLE millrace_limit_setting (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        INTEGER NOT NULL UNIQUE CHECK (name >= 0),
    cap         INTEGER CHECK (cap BETWEEN 1 AND 1000000000),
    rate_count  INTEGER CHECK (rate_count BETWEEN 1 AND 1000000000),
    rate_ms     INTEGER CHECK (rate_ms BETWEEN 1 AND 9000000000000),
    burst       INTEGER CHECK (burst BETWEEN 1 AND 1000000000),
    tokens      REAL    NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    refilled_at INTEGER NOT NULL,
    used        INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
    wanted_at   INTEGER,
    code_rule   TEXT    CHECK (json_valid(code_rule)),
    owner       INTEGER NOT NULL CHECK (owner IN (1, 2)),
    by          TEXT,
    set_at      INTEGER NOT NULL,
    CHECK ((rate_count IS NULL) = (rate_ms IS NULL)),
    CHECK ((rate_count IS NULL) = (burst IS NULL)),
    CHECK (cap IS NOT NULL OR rate_count IS NOT NULL),
    CHECK (owner = 2 OR code_rule IS NOT NULL)
) STRICT;

-- Which jobs need a permit of a limit: those of the type or tenant `target`, or all jobs (0). The
-- limit of a service applies to the types that use the service.
CREATE VIEW millrace_limit_target AS
SELECT id AS limit_id, name AS target FROM millrace_limit_setting
UNION ALL
SELECT setting.id, uses.type
FROM millrace_limit_setting AS setting
JOIN millrace_service_use AS uses ON uses.service = setting.name;

-- The permits that a worker holds of a limit, for jobs that it runs or is about to run. They are
-- deleted with the worker.
CREATE TABLE millrace_permit (
    worker   BLOB    NOT NULL CHECK (length(worker) = 16),
    limit_id INTEGER NOT NULL,
    held     INTEGER NOT NULL CHECK (held >= 1),
    PRIMARY KEY (worker, limit_id)
) STRICT, WITHOUT ROWID;

-- Lanes in which tenants start jobs in proportion to their weights. `weights` has those that are
-- not 1, by the id of the tenant; `code_weights` is what the worker that joined last states.
-- Owner 1: the code, 2: an operator.
CREATE TABLE millrace_fair_lane (
    lane         INTEGER PRIMARY KEY CHECK (lane > 0),
    weights      TEXT    NOT NULL CHECK (json_valid(weights)),
    code_weights TEXT    CHECK (json_valid(code_weights)),
    owner        INTEGER NOT NULL CHECK (owner IN (1, 2)),
    by           TEXT,
    set_at       INTEGER NOT NULL,
    CHECK (owner = 2 OR code_weights IS NOT NULL)
) STRICT;

-- The last turn of each tenant in a fair lane, and in each queue of a limit there (the gate of the
-- queue; 0: `ready`): its tag, the due time of its newest job that has a turn, and the tag of the
-- last job that came back after a younger one of the tenant.
CREATE TABLE millrace_fair_turn (
    lane     INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    queue    INTEGER NOT NULL CHECK (queue = 0 OR queue < -2),
    tenant   INTEGER NOT NULL,
    tag      INTEGER NOT NULL CHECK (tag >= 0),
    due      INTEGER NOT NULL,
    back_tag INTEGER NOT NULL CHECK (back_tag >= 0),
    PRIMARY KEY (lane, priority, queue, tenant)
) STRICT, WITHOUT ROWID;

-- The fair lanes in which jobs wait that have no turn. A recursive hop over the index finds the
-- priorities of the jobs.
CREATE VIEW millrace_lane_without_turns AS
SELECT fair.lane
FROM millrace_fair_lane AS fair
WHERE EXISTS (
    WITH RECURSIVE class (priority) AS (
        SELECT min(priority) FROM millrace_ready WHERE lane = fair.lane AND crashes = 0
        UNION ALL
        SELECT (
            SELECT min(ready.priority)
            FROM millrace_ready AS ready
            WHERE ready.lane = fair.lane AND ready.crashes = 0 AND ready.priority > class.priority
        )
        FROM class
        WHERE class.priority IS NOT NULL
    )
    SELECT 1
    FROM class
    CROSS JOIN millrace_ready AS ready
    WHERE ready.lane = fair.lane
      AND ready.crashes = 0
      AND ready.priority = class.priority
      AND ready.rank >= 0
)
   OR EXISTS (
    WITH RECURSIVE class (priority) AS (
        SELECT min(priority) FROM millrace_blocked WHERE lane = fair.lane AND gate < -2
        UNION ALL
        SELECT (
            SELECT min(blocked.priority)
            FROM millrace_blocked AS blocked
            WHERE blocked.lane = fair.lane
              AND blocked.gate < -2
              AND blocked.priority > class.priority
        )
        FROM class
        WHERE class.priority IS NOT NULL
    )
    SELECT 1
    FROM class
    CROSS JOIN millrace_blocked AS blocked
    WHERE blocked.lane = fair.lane
      AND blocked.gate < -2
      AND blocked.priority = class.priority
      AND blocked.turn_or_rank >= 0
);

-- A closed intake refuses new jobs of producers until an operator opens it. Names are those of
-- gates, and -2 stands for the whole installation. An open intake has no row, so that mostly the
-- table is empty.
CREATE TABLE millrace_intake (
    name      INTEGER PRIMARY KEY,
    closed_at INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    by        TEXT
) STRICT;

-- A rule for the payloads of new jobs: of the whole installation (`all`), of a category or of a
-- type. Producers read all rules, so that a rule names its target by text.
CREATE TABLE millrace_payload_rule (
    scope  TEXT NOT NULL CHECK (scope IN ('installation', 'category', 'type')),
    name   TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    rule   TEXT NOT NULL CHECK (json_valid(rule)),
    owner  TEXT NOT NULL CHECK (owner IN ('code', 'operator')),
    by     TEXT,
    reason TEXT,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- What tenants may enqueue; 0 stands for all tenants without a quota of their own.
CREATE TABLE millrace_quota (
    tenant        INTEGER PRIMARY KEY,
    waiting       INTEGER,
    rate_count    INTEGER,
    rate_ms       INTEGER,
    burst         INTEGER,
    payload_bytes INTEGER,
    reason        TEXT NOT NULL,
    by            TEXT,
    set_at        INTEGER NOT NULL
) STRICT;

-- The tokens of the rates of quotas. A tenant without a row has all its tokens.
CREATE TABLE millrace_quota_use (
    tenant      INTEGER PRIMARY KEY,
    tokens      REAL NOT NULL,
    refilled_at INTEGER NOT NULL
) STRICT;

-- Removals of all data of a tenant: who has asked for it, and how far it has come. A row stays when
-- its removal is done.
CREATE TABLE millrace_tenant_removal (
    tenant   TEXT PRIMARY KEY,
    reason   TEXT NOT NULL,
    by       TEXT,
    removed  INTEGER NOT NULL DEFAULT 0,
    begun_at INTEGER NOT NULL,
    done_at  INTEGER
) STRICT, WITHOUT ROWID;

-- `types`, `lanes`, `slots` and `tenant` describe the worker to operators. No claim reads them. All
-- workers of an operating-system process have the same `process`. `renewed_at` is the last
-- heartbeat, and the next one is due `beat_ms` later. `died_with` is set by the first rescue of a
-- worker of a dead process: how many runs the workers of this process had begun. `stopping`: an
-- operator has asked the worker to stop, so it is quiet as well. `app` is the version of the
-- application.
CREATE TABLE millrace_worker (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    process    BLOB    NOT NULL CHECK (length(process) = 16),
    host       TEXT    NOT NULL,
    pid        INTEGER NOT NULL,
    version    TEXT    NOT NULL,
    protocol   INTEGER NOT NULL,
    types      TEXT    NOT NULL CHECK (json_type(types) = 'array'),
    lanes      TEXT    NOT NULL CHECK (json_type(lanes) = 'array'),
    slots      INTEGER NOT NULL CHECK (slots >= 0),
    lane_slots TEXT    NOT NULL CHECK (json_type(lane_slots) = 'object'),
    died_with  INTEGER CHECK (died_with >= 0),
    tenant     TEXT,
    app        TEXT    CHECK (length(app) BETWEEN 1 AND 200),
    joined_at  INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    renewed_at INTEGER NOT NULL,
    beat_ms    INTEGER NOT NULL CHECK (beat_ms >= 0),
    beats      INTEGER NOT NULL CHECK (beats >= 0),
    quiet      INTEGER NOT NULL CHECK (quiet IN (0, 1)),
    stopping   INTEGER NOT NULL DEFAULT 0 CHECK (stopping IN (0, 1)),
    memory_bytes INTEGER CHECK (memory_bytes >= 0),
    loop_lag_ms  INTEGER CHECK (loop_lag_ms >= 0),
    CHECK (stopping <= quiet)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_worker_until ON millrace_worker (until);

-- A type whose jobs have killed their process, each while it ran alone. `ended` counts the jobs
-- that failed this way since the last success of the type. `probe_at` is set when the gate of the
-- type was closed for this reason: then one job of the type may be tried alone. The wait for the
-- next probe is `probe_ms`.
CREATE TABLE millrace_crash_streak (
    type     INTEGER PRIMARY KEY,
    ended    INTEGER NOT NULL CHECK (ended >= 0),
    probe_at INTEGER,
    probe_ms INTEGER NOT NULL CHECK (probe_ms >= 0)
) STRICT;

-- Runs that have ended in the ledger, by an operator or a time limit, while their worker may still
-- execute their code. Each heartbeat of the worker tells them. A row is deleted when the worker
-- reports that the code has ended, or with the worker. Successors of the job wait meanwhile.
CREATE TABLE millrace_ended_run (
    worker BLOB    NOT NULL CHECK (length(worker) = 16),
    key    INTEGER NOT NULL,
    n      INTEGER NOT NULL CHECK (n >= 1),
    PRIMARY KEY (worker, key, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_ended_run_key ON millrace_ended_run (key);

-- Jobs whose code may go on, the jobs that they repeat, and all jobs that repeat one of these. They
-- are not removed: a new successor finds the code through them.
CREATE VIEW millrace_job_with_code AS
WITH RECURSIVE kin (id) AS (
    SELECT job.id
    FROM millrace_ended_run AS code
    CROSS JOIN millrace_worker AS worker ON worker.id = code.worker
    CROSS JOIN millrace_job AS job ON job.key = code.key
    UNION
    SELECT job.retry_of
    FROM kin
    CROSS JOIN millrace_job AS job ON job.id = kin.id AND job.retry_of IS NOT NULL
    UNION
    SELECT job.id
    FROM kin
    CROSS JOIN millrace_job AS job ON job.retry_of = kin.id
)
SELECT job.key
FROM kin
CROSS JOIN millrace_job AS job ON job.id = kin.id;

-- A key stays after its job is removed. `expires_at` is set when retention removes the job.
CREATE TABLE millrace_idempotency (
    tenant     INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    job_id     BLOB    NOT NULL CHECK (length(job_id) = 16),
    body       BLOB    NOT NULL CHECK (length(body) = 32),
    expires_at INTEGER,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_idempotency_expiry ON millrace_idempotency (expires_at)
    WHERE expires_at IS NOT NULL;

-- Held while its job is not final.
CREATE TABLE millrace_dedup (
    tenant INTEGER NOT NULL,
    type   INTEGER NOT NULL,
    key    TEXT    NOT NULL,
    job    INTEGER NOT NULL,
    PRIMARY KEY (tenant, type, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_dedup_job ON millrace_dedup (job);

-- The ids of children that gave way to the holder of their key. Such an id names the holder. `job`
-- is null if the holder was removed before. A row is deleted with its holder or with its parent.
CREATE TABLE millrace_alias (
    id     BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    job    INTEGER,
    parent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_alias_job ON millrace_alias (job) WHERE job IS NOT NULL;
CREATE INDEX millrace_alias_parent ON millrace_alias (parent);

-- Every id that names a job, once, with the key of the job. A repeated note may have made the job
-- of an alias, because the holder has ended meanwhile: then the id names this job.
CREATE VIEW millrace_job_name AS
SELECT id, key FROM millrace_job
UNION ALL
SELECT alias.id, alias.job AS key
FROM millrace_alias AS alias
WHERE (SELECT job.key FROM millrace_job AS job WHERE job.id = alias.id) IS NULL;

CREATE TABLE millrace_cancel_request (
    key    INTEGER PRIMARY KEY,
    by     TEXT,
    reason TEXT,
    at     INTEGER NOT NULL
) STRICT;

-- The feed: one row per batch. SQLite has one writer, so the order of positions is the order of
-- commits. Events name jobs by key, with one detail for each job; jobs that retention has removed
-- are named by id.
CREATE TABLE millrace_event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 99),
    at       INTEGER NOT NULL,
    keys     TEXT    CHECK (json_type(keys) = 'array'),
    ids      TEXT    CHECK (json_type(ids) = 'array'),
    details  TEXT    CHECK (json_type(details) = 'array'),
    CHECK ((keys IS NULL) <> (ids IS NULL))
) STRICT;

CREATE INDEX millrace_event_at ON millrace_event (at);

-- The review record of a failed job. It has the id of the job and its own copy of the spec, so that
-- the rows of the job can be removed first.
CREATE TABLE millrace_dead_letter (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    type        INTEGER NOT NULL,
    tenant      INTEGER NOT NULL,
    status      INTEGER NOT NULL CHECK (status BETWEEN 1 AND 4),
    error       TEXT    NOT NULL CHECK (json_valid(error)),
    attempts    INTEGER NOT NULL CHECK (attempts >= 0),
    died_at     INTEGER NOT NULL,
    reviewed_by TEXT,
    reviewed_at INTEGER,
    notes       TEXT,
    successor   BLOB    CHECK (length(successor) = 16),
    spec        TEXT    NOT NULL CHECK (json_type(spec) = 'object'),
    cause       TEXT    NOT NULL CHECK (length(cause) = 16),
    assigned_to TEXT,
    -- The errors of the attempts, and what reviewers have done: the newest 50 and 100.
    history     TEXT    NOT NULL DEFAULT '[]' CHECK (json_type(history) = 'array'),
    reviews     TEXT    NOT NULL DEFAULT '[]' CHECK (json_type(reviews) = 'array'),
    -- What filters and counts read of the request and the error. A damaged record has none of it.
    category    TEXT    AS (iif(json_valid(spec), spec ->> 'category', NULL)) STORED,
    correlation TEXT    AS (iif(json_valid(spec), spec ->> 'correlationId', NULL)) STORED,
    created_at  INTEGER AS (
        iif(json_valid(spec), CAST(spec ->> 'createdAt' AS INTEGER), NULL)
    ) STORED,
    error_class TEXT    AS (iif(json_valid(error), error ->> 'class', NULL)) STORED,
    -- A record has a reviewer exactly when it is no longer pending.
    CHECK ((status = 1) = (reviewed_by IS NULL)),
    CHECK ((reviewed_by IS NULL) = (reviewed_at IS NULL)),
    CHECK (notes IS NULL OR reviewed_by IS NOT NULL),
    CHECK ((status = 3) = (successor IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- The index has all columns that a filter reads, so that a page reads only the records it returns.
CREATE INDEX millrace_dead_letter_died ON millrace_dead_letter (
    died_at, id, status, type, tenant, category, error_class, created_at, cause, assigned_to,
    correlation
);

-- Groups of failures are the open letters of one cause, of all tenants or of one.
CREATE INDEX millrace_dead_letter_cause ON millrace_dead_letter (cause, died_at, id, type)
    WHERE status IN (1, 2);
CREATE INDEX millrace_dead_letter_tenant_cause
    ON millrace_dead_letter (tenant, cause, died_at, id, type)
    WHERE status IN (1, 2);

-- What an operator has decided about the failures of one cause. `tenant` 0: for the installation.
-- `decision` 1: acknowledged, 2: snoozed until `until`, 3: retried, 4: discarded.
CREATE TABLE millrace_failure_group (
    tenant     INTEGER NOT NULL,
    cause      TEXT    NOT NULL CHECK (length(cause) = 16),
    decision   INTEGER NOT NULL CHECK (decision BETWEEN 1 AND 4),
    decided_at INTEGER NOT NULL,
    until      INTEGER,
    by         TEXT    NOT NULL,
    notes      TEXT,
    CHECK ((decision = 2) = (until IS NOT NULL)),
    PRIMARY KEY (tenant, cause)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_failure_group_decided ON millrace_failure_group (decided_at);

-- Bulk operations: what is done to many jobs or dead letters, and how far it has come. `status` 1:
-- pending, 2: running, 3: completed, 4: stopped, 5: failed. `plan` is the action with its filter or
-- ids. `cursor` is where the next chunk begins: only a chunk that begins there is applied. `runner`
-- holds the operation until `lease_until`; no chunk is applied before `next_at`. `skipped` counts
-- by reason.
CREATE TABLE millrace_operation (
    id                BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    status            INTEGER NOT NULL CHECK (status BETWEEN 1 AND 5),
    tenant            TEXT    CHECK (length(tenant) BETWEEN 1 AND 200),
    plan              TEXT    NOT NULL CHECK (json_type(plan) = 'object'),
    actor             TEXT    NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    reason            TEXT    NOT NULL,
    rate              REAL    NOT NULL CHECK (rate > 0),
    chunk             INTEGER NOT NULL CHECK (chunk BETWEEN 1 AND 500),
    expected          INTEGER NOT NULL CHECK (expected >= 0),
    expected_at_least INTEGER NOT NULL CHECK (expected_at_least IN (0, 1)),
    cursor            TEXT    NOT NULL,
    done              INTEGER NOT NULL DEFAULT 0 CHECK (done >= 0),
    failed            INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
    skipped           TEXT    NOT NULL DEFAULT '{}' CHECK (json_type(skipped) = 'object'),
    items             INTEGER NOT NULL DEFAULT 0 CHECK (items >= 0),
    created_at        INTEGER NOT NULL,
    started_at        INTEGER,
    finished_at       INTEGER,
    next_at           INTEGER NOT NULL,
    runner            TEXT    CHECK (length(runner) BETWEEN 1 AND 200),
    lease_until       INTEGER,
    stopped_by        TEXT,
    error             TEXT    CHECK (json_valid(error)),
    CHECK ((status >= 3) = (finished_at IS NOT NULL)),
    CHECK ((status = 4) = (stopped_by IS NOT NULL)),
    CHECK ((status = 5) = (error IS NOT NULL)),
    CHECK ((runner IS NULL) = (lease_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_operation_open ON millrace_operation (next_at, id) WHERE status <= 2;
CREATE INDEX millrace_operation_finished ON millrace_operation (finished_at, id) WHERE status >= 3;

-- What became of each item of an operation. `outcome` 1: done, 2: skipped, 3: failed. `code` is why
-- it was skipped or what the error was.
CREATE TABLE millrace_operation_item (
    operation BLOB    NOT NULL,
    n         INTEGER NOT NULL CHECK (n >= 1),
    job_id    BLOB    NOT NULL CHECK (length(job_id) = 16),
    outcome   INTEGER NOT NULL CHECK (outcome BETWEEN 1 AND 3),
    code      TEXT,
    successor BLOB    CHECK (length(successor) = 16),
    PRIMARY KEY (operation, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_operation_item_outcome
    ON millrace_operation_item (operation, outcome, n)
    WHERE outcome > 1;

-- Schedules: when which job is enqueued. `owner` 1: declared in code, 2: made by an operator.
-- `job` is the job of a tick without its id and due time. `missed_max` is how many missed slots are
-- made up for. A slot with a row in `schedule_tick` makes no second job.
CREATE TABLE millrace_schedule (
    name         TEXT    NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    owner        INTEGER NOT NULL CHECK (owner IN (1, 2)),
    tenant       TEXT    NOT NULL CHECK (length(tenant) BETWEEN 1 AND 200),
    cron         TEXT    NOT NULL CHECK (length(cron) BETWEEN 1 AND 200),
    time_zone    TEXT    NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 200),
    missed_max   INTEGER NOT NULL CHECK (missed_max BETWEEN 0 AND 1000),
    overlap      INTEGER NOT NULL CHECK (overlap BETWEEN 1 AND 3),
    jitter_ms    INTEGER NOT NULL CHECK (jitter_ms >= 0),
    starts_at    INTEGER,
    ends_at      INTEGER,
    job          TEXT    NOT NULL CHECK (json_type(job) = 'object'),
    next_slot    INTEGER,
    last_slot    INTEGER,
    last_job     BLOB    CHECK (length(last_job) = 16),
    paused_at    INTEGER,
    paused_by    TEXT,
    pause_reason TEXT,
    declared_at  INTEGER,
    created_by   TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    revision     INTEGER NOT NULL CHECK (revision >= 1),
    CHECK (next_slot > last_slot),
    CHECK ((declared_at IS NOT NULL) = (owner = 1)),
    CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX millrace_schedule_next ON millrace_schedule (next_slot)
    WHERE paused_at IS NULL AND next_slot IS NOT NULL;

-- The newest ticks of each schedule: what came of a slot. `since` is the first of several missed
-- slots that one row stands for.
CREATE TABLE millrace_schedule_tick (
    schedule TEXT    NOT NULL,
    slot     INTEGER NOT NULL,
    since    INTEGER CHECK (since <= slot),
    job      BLOB    CHECK (length(job) = 16),
    outcome  INTEGER NOT NULL CHECK (outcome BETWEEN 1 AND 9),
    at       INTEGER NOT NULL,
    PRIMARY KEY (schedule, slot)
) STRICT, WITHOUT ROWID;

-- API tokens. Of a secret only its SHA-256 is stored. `roles` is a set of bits. `types` are the job
-- types of a producer or a worker, and null stands for all types. A stream reads one job. A session
-- or a stream may be made from another token, its `parent`: it expires no later than the parent and
-- is revoked with it.
CREATE TABLE millrace_api_token (
    id           BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    kind         INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 5),
    name         TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    actor        TEXT    NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    roles        INTEGER NOT NULL CHECK (roles BETWEEN 0 AND 15),
    tenant       TEXT    CHECK (length(tenant) BETWEEN 1 AND 200),
    types        TEXT    CHECK (json_type(types) = 'array'),
    job_id       BLOB    CHECK (length(job_id) = 16),
    parent       BLOB    CHECK (length(parent) = 16),
    created_by   TEXT    NOT NULL CHECK (length(created_by) BETWEEN 1 AND 200),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 9000000000000),
    last_used_at INTEGER,
    revoked_at   INTEGER,
    -- Persons and sessions have roles, producers and workers have types.
    CHECK (roles = 0 OR kind IN (1, 5)),
    CHECK (types IS NULL OR kind IN (2, 3)),
    CHECK ((job_id IS NOT NULL) = (kind = 4)),
    CHECK (parent IS NULL OR kind IN (4, 5))
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_api_token_parent ON millrace_api_token (parent) WHERE parent IS NOT NULL;
-- Retention reads the tokens of each kind from the first that ended.
CREATE INDEX millrace_api_token_end
    ON millrace_api_token (kind, min(expires_at, coalesce(revoked_at, expires_at)));

-- Exclusive locks, one row each: the concurrency key of a running job, or a lock that a run has
-- acquired for one of its units. Both share one name space per tenant. A row is deleted when its
-- run ends.
CREATE TABLE millrace_lock (
    tenant INTEGER NOT NULL,
    name   TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 500),
    job    INTEGER NOT NULL,
    n      INTEGER NOT NULL CHECK (n >= 1),
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_lock_job ON millrace_lock (job);

-- How many jobs with a concurrency key may start in a period: `rate_count` in `rate_ms`, up to
-- `burst` at once; `tokens` were left at `refilled_at`. While there is no token, the lock of the
-- key has a row with the job 0, until `held_until`.
CREATE TABLE millrace_key_rate (
    tenant      INTEGER NOT NULL,
    name        TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 500),
    rate_count  INTEGER NOT NULL CHECK (rate_count BETWEEN 1 AND 1000000000),
    rate_ms     INTEGER NOT NULL CHECK (rate_ms BETWEEN 1 AND 9000000000000),
    burst       INTEGER NOT NULL CHECK (burst BETWEEN 1 AND 1000000000),
    tokens      REAL    NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    refilled_at INTEGER NOT NULL,
    held_until  INTEGER,
    by          TEXT,
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_key_rate_held ON millrace_key_rate (held_until)
    WHERE held_until IS NOT NULL;

-- One row per job that a job waits for; the waiting job is behind gate 0. `tolerant`: it runs even
-- if the other job fails. Below 0, `depends_on` is the negated key of a job whose code the waiting
-- job waits for, although that job is final.
CREATE TABLE millrace_dependency (
    job        INTEGER NOT NULL,
    depends_on INTEGER NOT NULL,
    tolerant   INTEGER NOT NULL CHECK (tolerant IN (0, 1)),
    PRIMARY KEY (job, depends_on)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_dependency_on ON millrace_dependency (depends_on, job);

-- Finished jobs whose dependants are not yet resolved.
CREATE TABLE millrace_finished_dependency (
    key INTEGER PRIMARY KEY
) STRICT;

-- The newest log lines of each job, numbered from its first line. Level 1 is the least.
CREATE TABLE millrace_log (
    key     INTEGER NOT NULL,
    line    INTEGER NOT NULL CHECK (line >= 1),
    n       INTEGER NOT NULL CHECK (n >= 1),
    turn    INTEGER NOT NULL CHECK (turn >= 1),
    at      INTEGER NOT NULL,
    level   INTEGER NOT NULL CHECK (level BETWEEN 1 AND 4),
    message TEXT    NOT NULL,
    fields  TEXT    CHECK (
        CASE WHEN json_valid(fields) THEN json_type(fields) = 'object' ELSE fields IS NULL END
    ),
    PRIMARY KEY (key, line)
) STRICT, WITHOUT ROWID;

-- Finished jobs that will be removed soon, as the feed has announced.
CREATE TABLE millrace_stale (
    key INTEGER PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT;

-- Progress, completed phases and units of runs. The state of a phase is not stored: it follows from
-- these rows and the state of the job.

-- One row per job with progress, from its last run that reported any.
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

-- One row per completed phase, with the number of the run that completed it, or 0 if the phase was
-- taken over from the job that this one repeats.
CREATE TABLE millrace_phase (
    key    INTEGER NOT NULL,
    name   TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    n      INTEGER NOT NULL CHECK (n >= 0),
    result TEXT    CHECK (json_valid(result)),
    at     INTEGER NOT NULL,
    PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;

-- One row per unit, with the number of the run that changed it last, or 0. State 0 is planned.
-- State 1 is running, or planned again if the run has ended.
CREATE TABLE millrace_unit (
    key    INTEGER NOT NULL,
    phase  TEXT    NOT NULL CHECK (length(phase) <= 200),
    unit   TEXT    NOT NULL CHECK (length(unit) BETWEEN 1 AND 500),
    -- The position in the phase, from 1; 0: none was given.
    turn   INTEGER NOT NULL CHECK (turn >= 0),
    n      INTEGER NOT NULL CHECK (n >= 0),
    state  INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    result TEXT    CHECK (json_valid(result)),
    error  TEXT    CHECK (json_valid(error)),
    at     INTEGER NOT NULL,
    PRIMARY KEY (key, phase, unit),
    CHECK ((state = 3) = (error IS NOT NULL)),
    CHECK (result IS NULL OR state = 2)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_unit_running ON millrace_unit (unit, key) WHERE state = 1;
-- Pages of units in the order given.
CREATE INDEX millrace_unit_turn ON millrace_unit (key, phase, turn, unit);

-- The runs that ended with one commit, by type, lane and outcome: how long each waited and ran, in
-- milliseconds. A settle only inserts. A fold moves the rows to `minute`.
CREATE TABLE millrace_minute_outbox (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    lane    INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    waits   TEXT    NOT NULL,
    runs    TEXT    NOT NULL
) STRICT;

-- The runs of one type and lane that ended with one outcome within a minute or an hour: `span` is
-- the number of minutes. `wait_ms` and `run_ms` are sums. The histograms are lists of buckets and
-- counts; see core/metrics/histogram.ts. A row is updated while its minute or hour lasts.
CREATE TABLE millrace_minute (
    span    INTEGER NOT NULL CHECK (span IN (1, 60)),
    start   INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    lane    INTEGER NOT NULL,
    outcome INTEGER NOT NULL CHECK (outcome BETWEEN 1 AND 7),
    count   INTEGER NOT NULL CHECK (count > 0),
    wait_ms INTEGER NOT NULL CHECK (wait_ms >= 0),
    run_ms  INTEGER NOT NULL CHECK (run_ms >= 0),
    waits   TEXT    NOT NULL CHECK (json_type(waits) = 'array'),
    runs    TEXT    NOT NULL CHECK (json_type(runs) = 'array'),
    PRIMARY KEY (span, start, type, lane, outcome)
) STRICT, WITHOUT ROWID;

-- When workers of another version of the application began to register.
CREATE TABLE millrace_deploy (
    n           INTEGER PRIMARY KEY CHECK (n >= 1),
    app_version TEXT    NOT NULL CHECK (length(app_version) BETWEEN 1 AND 200),
    at          INTEGER NOT NULL
) STRICT;

-- Filters of the screens of the dashboard, by tenant and name. Tenant '': of the installation.
CREATE TABLE millrace_saved_view (
    tenant   TEXT    NOT NULL CHECK (length(tenant) <= 200),
    name     TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    screen   TEXT    NOT NULL CHECK (length(screen) BETWEEN 1 AND 100),
    query    TEXT    NOT NULL CHECK (length(query) <= 4000),
    by       TEXT,
    saved_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- What operators have done: each row is written in the transaction of its act and never changes.
-- Tenant '' is the whole installation. `before` and `after` are small JSON.
CREATE TABLE millrace_audit (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL,
    tenant       TEXT    NOT NULL CHECK (length(tenant) <= 200),
    name         TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    actor        TEXT,
    reason       TEXT    CHECK (length(reason) BETWEEN 1 AND 2000),
    subject_kind TEXT    NOT NULL CHECK (length(subject_kind) BETWEEN 1 AND 50),
    subject      TEXT    NOT NULL CHECK (length(subject) BETWEEN 1 AND 500),
    before       TEXT    CHECK (json_type(before) = 'object' AND length(before) <= 4096),
    after        TEXT    CHECK (json_type(after) = 'object' AND length(after) <= 4096)
) STRICT;

CREATE INDEX millrace_audit_subject ON millrace_audit (subject, id);

-- The chain of each tenant: a sweep seals entries after their commit. `day` counts from the epoch,
-- in UTC, and `position` within the day. A hash covers the hash before it, the seal and the entry.
CREATE TABLE millrace_audit_seal (
    tenant    TEXT    NOT NULL,
    day       INTEGER NOT NULL,
    position  INTEGER NOT NULL CHECK (position >= 1),
    audit_id  INTEGER NOT NULL UNIQUE,
    previous  TEXT    NOT NULL CHECK (length(previous) = 64),
    hash      TEXT    NOT NULL CHECK (length(hash) = 64),
    sealed_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, day, position)
) STRICT, WITHOUT ROWID;

-- Retention removes the seals of the earliest days.
CREATE INDEX millrace_audit_seal_day ON millrace_audit_seal (day, tenant, position);

-- The last seal of each chain that retention has removed, with its entry.
CREATE TABLE millrace_audit_start (
    tenant   TEXT    NOT NULL PRIMARY KEY,
    day      INTEGER NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    hash     TEXT    NOT NULL CHECK (length(hash) = 64)
) STRICT, WITHOUT ROWID;

-- Entries and seals never change. Only what a chain has left behind is deleted.
CREATE TRIGGER millrace_audit_never_changes BEFORE UPDATE ON millrace_audit
BEGIN
    SELECT RAISE(ABORT, 'an audit entry never changes');
END;

CREATE TRIGGER millrace_audit_seal_never_changes BEFORE UPDATE ON millrace_audit_seal
BEGIN
    SELECT RAISE(ABORT, 'the seal of an audit entry never changes');
END;

CREATE TRIGGER millrace_audit_stays BEFORE DELETE ON millrace_audit
WHEN NOT EXISTS (
    SELECT 1
    FROM millrace_audit_seal AS seal
    JOIN millrace_audit_start AS start ON start.tenant = seal.tenant
    WHERE seal.audit_id = OLD.id
      AND (seal.day, seal.position) <= (start.day, start.position)
)
BEGIN
    SELECT RAISE(ABORT, 'only retention deletes audit entries');
END;

CREATE TRIGGER millrace_audit_seal_stays BEFORE DELETE ON millrace_audit_seal
WHEN NOT EXISTS (
    SELECT 1
    FROM millrace_audit_start AS start
    WHERE start.tenant = OLD.tenant
      AND (OLD.day, OLD.position) <= (start.day, start.position)
)
BEGIN
    SELECT RAISE(ABORT, 'only retention deletes the seals of audit entries');
END;

-- A job with its present state: the final state of its last attempt, else the place it is in, else
-- running.
CREATE VIEW millrace_job_now AS
SELECT job.*,
       CASE
           WHEN last.state IS NOT NULL THEN last.state
           WHEN scheduled.key IS NOT NULL THEN 1
           WHEN ready.key IS NOT NULL OR blocked.key IS NOT NULL THEN 2
           ELSE 3
       END AS state,
       coalesce(last.tries, 0) AS tries,
       coalesce(last.crashes, 0) AS crashes,
       last.outcome AS outcome,
       coalesce(
           scheduled.run_at, ready.due, ready.rank / 1000, blocked.rank / 1000
       ) AS next_run_at,
       last.started_at AS last_started_at,
       last.finished_at AS last_finished_at,
       last.error AS last_error,
       last.result AS result,
       last.reason AS cancel_reason,
       blocked.gate AS gate,
       coalesce(scheduled.priority, ready.priority, blocked.priority) AS next_priority,
       EXISTS (SELECT 1 FROM millrace_cancel_request AS asked WHERE asked.key = job.key)
           AS cancel_requested
FROM millrace_job AS job
LEFT JOIN millrace_attempt AS last
    ON last.key = job.key
    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = job.key)
LEFT JOIN millrace_scheduled AS scheduled ON scheduled.key = job.key
LEFT JOIN millrace_ready AS ready ON ready.key = job.key
LEFT JOIN millrace_blocked AS blocked ON blocked.key = job.key;

INSERT INTO millrace_interned_name (id, kind, text) VALUES (1, 2, 'default');
INSERT INTO millrace_meta (name, value) VALUES ('min_protocol', '1');
-- The longest periods that workers have declared, and when.
INSERT INTO millrace_meta (name, value) VALUES ('retention', '{}');
