-- apart: PostgreSQL takes a lone job in one call, SQLite goes job by job under its one write lock.

-- name: claim_alone
-- Claims a job that must run alone, in the form of `claim`. In the first row `kind` has the type of
-- a probe and the wait that came before it; null: the job is no probe.
-- returns tuples: ClaimTuple
SELECT *
FROM millrace.claim_alone(
    :worker::uuid, :secret::text, :lanes::integer[], :types::integer[], :tenants::integer[],
    :cap::integer, :lent::integer[], :lent_counts::integer[], :now::timestamptz
);

-- name: set_next_probe
-- A job of a type is tried: the next one has to wait.
UPDATE millrace.crash_streak
SET probe_at = millrace.clock_at(:now::timestamptz) + :probe_ms::bigint * interval '1 millisecond',
    probe_ms = :probe_ms::bigint
WHERE type = :type::integer;

-- name: lock_process
-- Locks the workers of the process of a silent worker, in one order for all rescues. Nothing is
-- locked if the worker has renewed since the rescuer looked, or its lease has not expired. `beats`
-- is read after the lock.
-- returns: id uuid, beats bigint, died_with integer?
SELECT id, beats, died_with
FROM millrace.worker
WHERE process = (
    SELECT process
    FROM millrace.worker
    WHERE id = :id::uuid
      AND beats = :beats::bigint
      AND until <= millrace.clock_at(:now::timestamptz)
)
ORDER BY id
FOR UPDATE;

-- name: set_died_with
-- Counts the open runs that the workers of a dead process had begun, and stores the number. A
-- worker that has renewed since an earlier verdict gets the new one, the others keep theirs. This
-- runs after the workers were locked: only a later statement sees what others have committed
-- meanwhile.
-- returns: id uuid, died_with integer
WITH begun AS MATERIALIZED (
    SELECT count(*)::integer AS count
    FROM millrace.leased_run AS run
    WHERE run.worker = ANY (:workers::uuid[])
      AND run.started_at IS NOT NULL
      AND NOT EXISTS (
          SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
      )
)
UPDATE millrace.worker AS worker
SET died_with = begun.count
FROM begun
WHERE worker.id = ANY (:workers::uuid[])
  AND worker.died_with IS NULL
RETURNING worker.id, worker.died_with;

-- name: count_lone_death
-- A job of a type has died alone. Returns how many have since the last success of the type, and
-- whether they have closed the gate of the type already.
-- returns: ended integer, is_closed boolean
INSERT INTO millrace.crash_streak AS known (type, ended, probe_at, probe_ms)
VALUES (:type::integer, 1, NULL, 0)
ON CONFLICT (type) DO UPDATE
SET ended = known.ended + 1
RETURNING ended, probe_at IS NOT NULL AS is_closed;

-- name: close_crash_gate
-- Closes the gate of a type because of crashes, and sets the time of the first probe. A gate that
-- an operator has closed stays as it is, without probes.
WITH closed AS (
    INSERT INTO millrace.gate AS known (name, closed_at, until, reason, by)
    VALUES (
        :type::integer, millrace.clock_at(:now::timestamptz), NULL, :reason::text, :by::text
    )
    ON CONFLICT (name) DO UPDATE
    SET closed_at = excluded.closed_at, until = excluded.until, reason = excluded.reason,
        by = excluded.by
    WHERE known.until <= millrace.clock_at(:now::timestamptz)
    RETURNING name
)
UPDATE millrace.crash_streak AS streak
SET probe_at = millrace.clock_at(:now::timestamptz) + :probe_ms::bigint * interval '1 millisecond',
    probe_ms = :probe_ms::bigint
FROM closed
WHERE streak.type = closed.name;

-- name: set_gate_reason
-- A probe has died as well: the reason of the closed gate names the new number.
UPDATE millrace.gate
SET reason = :reason::text
WHERE name = :type::integer;

-- name: end_crash_streak
-- A probe of a type has succeeded: ends the count of the type, and opens the gate if the count had
-- closed it.
WITH ended AS (
    DELETE FROM millrace.crash_streak
    WHERE type = :type::integer
    RETURNING probe_at
)
DELETE FROM millrace.gate
WHERE name = :type::integer
  AND EXISTS (SELECT 1 FROM ended WHERE probe_at IS NOT NULL);
