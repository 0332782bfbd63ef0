-- Who has an exclusive name, which jobs wait for others, what handlers have logged, and which jobs
-- will be removed soon.

-- One row per name that is taken: the concurrency key of a job that runs, or a name that a run has
-- taken for one of its units. A tenant has one space for both. A row goes with its run.
CREATE TABLE millrace_lock (
    tenant INTEGER NOT NULL,
    name   TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 500),
    job    INTEGER NOT NULL,
    n      INTEGER NOT NULL CHECK (n >= 1),
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_lock_job ON millrace_lock (job);

-- What runs already has its key from now on; of two that run under one, the first.
INSERT OR IGNORE INTO millrace_lock (tenant, name, job, n)
SELECT job.tenant, job.concurrency, job.key, run.value
FROM millrace_lease AS lease
JOIN json_each(lease.keys) AS claimed
JOIN json_each(lease.ns) AS run ON run.key = claimed.key
JOIN millrace_job AS job ON job.key = claimed.value
WHERE job.concurrency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = job.key AND ended.n = run.value
  )
ORDER BY lease.number;

-- Jobs whose key is taken lie behind gate -1. The most urgent of each key goes first.
CREATE INDEX millrace_blocked_key
    ON millrace_blocked (tenant, concurrency, priority, rank, key)
    WHERE gate = -1;

-- One row per job that a job waits for; such a job lies behind gate 0. `tolerant`: it runs also
-- when that one fails.
CREATE TABLE millrace_dependency (
    job      INTEGER NOT NULL,
    depends_on    INTEGER NOT NULL,
    tolerant INTEGER NOT NULL CHECK (tolerant IN (0, 1)),
    PRIMARY KEY (job, depends_on)
) STRICT, WITHOUT ROWID;

CREATE INDEX millrace_dependency_on ON millrace_dependency (depends_on, job);

-- Jobs that are over, and whose end those that wait for them have yet to hear of.
CREATE TABLE millrace_finished_dependency (
    key INTEGER PRIMARY KEY
) STRICT;

-- The newest lines of each job, numbered from its first. Level 1 is the least.
CREATE TABLE millrace_log (
    key     INTEGER NOT NULL,
    line    INTEGER NOT NULL CHECK (line >= 1),
    n       INTEGER NOT NULL CHECK (n >= 1),
    at      INTEGER NOT NULL,
    level   INTEGER NOT NULL CHECK (level BETWEEN 1 AND 4),
    message TEXT    NOT NULL,
    fields  TEXT    CHECK (
        CASE WHEN json_valid(fields) THEN json_type(fields) = 'object' ELSE fields IS NULL END
    ),
    PRIMARY KEY (key, line)
) STRICT, WITHOUT ROWID;

-- Jobs that ended long ago, of which the feed has been told that they will be removed.
CREATE TABLE millrace_stale (
    key INTEGER PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT;

-- A worker that knows nothing of names would run two jobs of one key.
UPDATE millrace_meta SET value = '2' WHERE name = 'min_protocol';
