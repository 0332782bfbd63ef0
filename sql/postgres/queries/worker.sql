-- apart: one statement looks through the leases, which SQLite reads one by one.

-- name: register_worker
-- Registers a worker, or gives a registered one a new lease. A registered one stays quiet or not.
INSERT INTO millrace.worker AS known (
    id, process, host, pid, version, protocol, types, lanes, slots, lane_slots, tenant, app,
    joined_at, leases_at, until, renewed_at, beat_ms, beats, quiet
)
SELECT :id::uuid, :process::uuid, :host::text, :pid::bigint, :version::text, :protocol::integer,
       :types::json, :lanes::json, :slots::integer, :lane_slots::json, :tenant::text, :app::text,
       moment.at, moment.at, moment.at + :lease_ms::bigint * interval '1 millisecond', moment.at,
       :beat_ms::bigint, 0, :quiet::boolean
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT (id) DO UPDATE
SET until = excluded.until, renewed_at = excluded.renewed_at, beats = known.beats + 1,
    died_with = NULL;

-- name: renew_worker
-- A heartbeat: extends the one row that all leases of the process depend on. A worker whose lease
-- has expired may still renew it as long as it was not rescued. Returns which runs of the worker
-- have a cancel request, which runs an operator has ended, and whether its protocol is no longer
-- accepted. An ended run is returned by every heartbeat until a minute after the first one. Deletes
-- a lease all of whose runs ended more than a minute ago. Such a lease remains when two settlers
-- end its last runs at the same moment. Leases below `leases_from` are not looked for, and once a
-- minute this number is raised to the lowest lease that was seen.
-- returns: now bigint, busy boolean, quiet boolean, stopping boolean, outdated boolean,
--   cancel json?, ended json?
-- timeout: heartbeat
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
run AS MATERIALIZED (
    SELECT lease.number, run.key, run.n, run.turn, done.finished_at
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) WITH ORDINALITY AS run (key, n, turn)
    LEFT JOIN LATERAL (
        SELECT attempt.finished_at
        FROM millrace.attempt AS attempt
        WHERE attempt.key = run.key AND attempt.n = run.n
        LIMIT 1
    ) AS done ON true
    WHERE lease.worker = :id::uuid
      AND lease.number >= (SELECT leases_from FROM millrace.worker WHERE id = :id::uuid)
),
seen AS MATERIALIZED (
    SELECT min(number) AS lowest FROM run
),
beat AS (
    UPDATE millrace.worker AS worker
    SET until = moment.at + :lease_ms::bigint * interval '1 millisecond',
        beats = worker.beats + 1,
        renewed_at = moment.at,
        memory_bytes = coalesce(:memory_bytes::bigint, worker.memory_bytes),
        loop_lag_ms = coalesce(:loop_lag_ms::bigint, worker.loop_lag_ms),
        died_with = NULL,
        (leases_from, leases_before, leases_seen, leases_at) = (
            SELECT next.first, next.before, next.seen, next.at
            FROM (
                VALUES (
                    true,
                    CASE WHEN worker.leases_before IS NULL THEN worker.leases_from
                         ELSE least(worker.leases_before, worker.leases_seen, seen.lowest) END,
                    worker.leases_seen, seen.lowest, moment.at
                ), (
                    false, worker.leases_from, worker.leases_before,
                    least(worker.leases_seen, seen.lowest), worker.leases_at
                )
            ) AS next (is_new, first, before, seen, at)
            WHERE next.is_new = (moment.at - worker.leases_at >= interval '60 s')
        )
    FROM moment
    CROSS JOIN seen
    WHERE worker.id = :id::uuid
    RETURNING worker.quiet, worker.stopping, worker.protocol
),
deleted_leases AS (
    DELETE FROM millrace.lease
    WHERE number IN (
        SELECT run.number
        FROM moment
        CROSS JOIN run
        GROUP BY run.number
        HAVING bool_and(coalesce(run.finished_at < moment.at - interval '1 minute', false))
    )
    RETURNING number
),
deleted_starts AS (
    DELETE FROM millrace.run_start
    WHERE lease = ANY (ARRAY(SELECT number FROM deleted_leases))
)
SELECT millrace.ms_of(moment.at) AS now,
       EXISTS (SELECT 1 FROM run AS open WHERE open.finished_at IS NULL) AS busy, beat.quiet,
       beat.stopping,
       beat.protocol < (SELECT value::integer FROM millrace.meta WHERE name = 'min_protocol')
           AS outdated,
       (
           SELECT json_agg(
               json_build_object('key', run.key, 'n', run.n, 'reason', asked.reason)
               ORDER BY run.number, run.turn
           )
           FROM run
           JOIN millrace.cancel_request AS asked ON asked.key = run.key
           WHERE run.finished_at IS NULL
       ) AS cancel,
       (
           SELECT json_agg(
               json_build_object('key', ended.key, 'n', ended.n) ORDER BY ended.key, ended.n
           )
           FROM millrace.ended_run AS ended
           WHERE ended.worker = :id::uuid
       ) AS ended
FROM moment
CROSS JOIN beat;

-- name: insert_ended_runs
-- Code of these ended runs may go on in a worker, if the worker is registered.
INSERT INTO millrace.ended_run (worker, key, n)
SELECT worker.id, run.key, run.n
FROM millrace.worker AS worker
CROSS JOIN json_to_recordset(:runs::json) AS run (key bigint, n integer)
WHERE worker.id = :worker::uuid
ORDER BY run.key, run.n
ON CONFLICT (worker, key, n) DO NOTHING;

-- name: delete_ended_runs
-- The code of these runs of a worker has ended; null: of all its runs, because it is removed.
-- returns: key bigint
DELETE FROM millrace.ended_run
WHERE worker = :worker::uuid
  AND (
      :runs::json IS NULL
      OR (key, n) IN (
          SELECT run.key, run.n FROM json_to_recordset(:runs::json) AS run (key bigint, n integer)
      )
  )
RETURNING key;

-- name: lock_worker
-- Locks the row of a worker against claims and rescues.
-- returns: id uuid
SELECT id
FROM millrace.worker
WHERE id = :id::uuid
FOR UPDATE;

-- name: delete_worker
-- Removes a worker that holds nothing. Its row is locked, so it can claim nothing.
DELETE FROM millrace.worker AS worker
WHERE worker.id = :id::uuid
  AND NOT EXISTS (SELECT 1 FROM millrace.lease AS lease WHERE lease.worker = worker.id);

-- name: expire_worker
-- The worker has stopped and left jobs behind: its lease expires at once.
UPDATE millrace.worker
SET until = millrace.clock_at(:now::timestamptz)
WHERE id = :id::uuid;

-- name: silent_workers
-- Workers whose lease has expired, longest expired first. Leases that were taken from SQL are swept
-- by a function, except those of jobs that a crash must end.
-- returns: id uuid, beats bigint, silent_ms bigint
SELECT worker.id, worker.beats,
       millrace.ms_of(moment.at) - millrace.ms_of(worker.until) AS silent_ms
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
JOIN millrace.worker AS worker ON worker.until <= moment.at
WHERE worker.taken_by IS NULL
   OR EXISTS (
       SELECT 1
       FROM millrace.lease AS lease
       JOIN millrace.job AS job ON job.key = lease.keys[1]
       WHERE lease.worker = worker.id AND job.flags & 1 = 1
   )
ORDER BY worker.until, worker.id
LIMIT :limit::integer;

-- name: sweep_expired_leases
-- only: postgres, because SQLite has no sessions that take tasks from SQL.
-- Ends the runs of leases that were taken from SQL and have expired. Returns how many.
-- returns: ended integer
SELECT millrace.end_expired_leases(:limit::integer, :now::timestamptz) AS ended;

-- name: worker_lives
-- Whether the lease of a worker has not expired.
-- returns: lives boolean
SELECT until > millrace.clock_at(:now::timestamptz) AS lives
FROM millrace.worker
WHERE id = :id::uuid;

-- name: quiet_worker
-- Asks a worker to take no new work.
UPDATE millrace.worker
SET quiet = true
WHERE id = :id::uuid;

-- name: resume_worker
-- Lets a quiet worker take new work again, unless an operator has asked the worker to stop.
UPDATE millrace.worker
SET quiet = false
WHERE id = :id::uuid AND quiet AND NOT stopping;

-- name: is_stopping
-- Whether an operator has asked the worker to stop.
-- returns: stopping boolean
SELECT stopping
FROM millrace.worker
WHERE id = :id::uuid;

-- name: stop_worker
-- Asks a worker to stop, and to take no new work until it has stopped.
UPDATE millrace.worker
SET quiet = true, stopping = true
WHERE id = :id::uuid;

-- name: holder_of_job
-- The worker whose lease has the job now, or else a worker where code of an ended run goes on. A
-- run that has ended may still be in a lease.
-- returns: id uuid, host text, pid bigint, until bigint, beat_ms bigint, beat_ago_ms bigint
SELECT worker.id, worker.host, worker.pid, millrace.ms_of(worker.until) AS until, worker.beat_ms,
       millrace.ms_of(millrace.clock_at(:now::timestamptz)) - millrace.ms_of(worker.renewed_at)
           AS beat_ago_ms
FROM (
    SELECT lease.worker, lease.number
    FROM (SELECT key FROM millrace.job_name WHERE id = :id::uuid) AS named
    JOIN millrace.lease AS lease
        ON named.key >= lease.low AND named.key <= lease.high AND lease.keys @> ARRAY[named.key]
    WHERE NOT EXISTS (
        SELECT 1
        FROM millrace.attempt AS ended
        WHERE ended.key = named.key
          AND ended.n = lease.ns[array_position(lease.keys, named.key)]
    )
    UNION ALL
    SELECT ended.worker, 0
    FROM millrace.ended_run AS ended
    WHERE ended.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid)
) AS held
JOIN millrace.worker AS worker ON worker.id = held.worker
ORDER BY held.number DESC, worker.until DESC, worker.id
LIMIT 1;

-- name: store_time
-- only: postgres, because a store on SQLite has the clock of its process.
-- The time by the clock of the server, or by the clock of a test.
-- returns: at bigint
SELECT millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS at;

-- name: list_workers
-- Workers as operators see them, longest registered first, with the number of running and of
-- prefetched jobs. The ledger row before a run has the crashes so far.
-- returns: id uuid, host text, pid bigint, version text, types json, lanes json, slots integer,
--   lane_slots json, tenant text?, app text?, joined_at bigint, until bigint, lease_left_ms bigint,
--   beat_ms bigint, beat_ago_ms bigint, beats bigint, memory_bytes bigint?, loop_lag_ms bigint?,
--   quiet boolean, stopping boolean, taken_by text?, running bigint, buffered bigint,
--   running_by_lane json, crashed_once bigint, crashed_often bigint
-- timeout: reader
SELECT worker.id, worker.host, worker.pid, worker.version, worker.types, worker.lanes, worker.slots,
       worker.lane_slots, worker.tenant, worker.app, millrace.ms_of(worker.joined_at) AS joined_at,
       millrace.ms_of(worker.until) AS until,
       millrace.ms_of(worker.until) - millrace.ms_of(moment.at) AS lease_left_ms, worker.beat_ms,
       millrace.ms_of(moment.at) - millrace.ms_of(worker.renewed_at) AS beat_ago_ms,
       worker.beats, worker.memory_bytes, worker.loop_lag_ms, worker.quiet, worker.stopping,
       worker.taken_by, held.running, held.buffered, held.running_by_lane, held.crashed_once,
       held.crashed_often
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN (
    SELECT * FROM millrace.worker ORDER BY joined_at, id LIMIT :limit::integer
) AS worker
CROSS JOIN LATERAL (
    SELECT coalesce(sum(kind.running), 0)::bigint AS running,
           coalesce(sum(kind.buffered), 0)::bigint AS buffered,
           coalesce(
               json_object_agg(kind.lane, kind.running)
                   FILTER (WHERE kind.lane IS NOT NULL AND kind.running > 0),
               '{}'
           ) AS running_by_lane,
           coalesce(sum(kind.crashed_once), 0)::bigint AS crashed_once,
           coalesce(sum(kind.crashed_often), 0)::bigint AS crashed_often
    FROM (
        SELECT name.text AS lane, count(run.started_at) AS running,
               count(*) - count(run.started_at) AS buffered,
               count(run.started_at) FILTER (WHERE last.crashes = 1) AS crashed_once,
               count(run.started_at) FILTER (WHERE last.crashes > 1) AS crashed_often
        FROM millrace.leased_run AS run
        LEFT JOIN millrace.job AS job ON job.key = run.key
        LEFT JOIN millrace.interned_name AS name ON name.id = job.lane
        LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1
        WHERE run.worker = worker.id
          AND NOT EXISTS (
              SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
          )
        GROUP BY name.text
    ) AS kind
) AS held
ORDER BY worker.joined_at, worker.id;

-- name: overdue_runs
-- Runs of a worker that have exceeded their time limit, with the proof that is needed to end them.
-- returns: number bigint, secret text, key bigint, n integer, limit_ms bigint, ran_ms bigint,
--   FactsRow
SELECT run.lease AS number, run.secret, run.key, run.n, job.timeout_ms AS limit_ms,
       millrace.ms_of(moment.at) - millrace.ms_of(run.started_at) AS ran_ms,
       job.id, coalesce(name.text, 'unknown name ' || job.type) AS type_name, job.max_attempts,
       job.flags, coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN millrace.leased_run AS run
JOIN millrace.job AS job ON job.key = run.key
LEFT JOIN millrace.interned_name AS name ON name.id = job.type
LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1
WHERE run.worker = :worker::uuid
  AND run.lease >= (SELECT leases_from FROM millrace.worker WHERE id = :worker::uuid)
  AND millrace.ms_of(moment.at) - millrace.ms_of(run.started_at)
      > job.timeout_ms + :slack_ms::bigint
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
  )
ORDER BY run.lease, run.turn;
