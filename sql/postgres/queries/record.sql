-- apart: one statement keeps what a whole batch of runs says, where SQLite goes unit by unit.

-- name: forget_notes
-- Runs start over: removes the progress, phases and units of the runs before.
WITH anew AS MATERIALIZED (
    SELECT run.key, run.n
    FROM json_to_recordset(:runs::json) AS run (key bigint, n integer)
),
deleted_progress AS (
    DELETE FROM millrace.run AS old
    USING anew
    WHERE old.key = anew.key AND old.n <= anew.n
),
deleted_phases AS (
    DELETE FROM millrace.phase AS old
    USING anew
    WHERE old.key = anew.key AND old.n <= anew.n
)
DELETE FROM millrace.unit AS old
USING anew
WHERE old.key = anew.key AND old.n <= anew.n;

-- name: put_progress
-- Writes the progress of runs. A commit that contains nothing else need not wait for the disk.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at,
           CASE WHEN :relaxed::boolean
                THEN set_config('synchronous_commit', 'off', true) END AS setting
)
INSERT INTO millrace.run AS old (key, at, n, percent, overall, phase, phases, data)
SELECT told.key, moment.at, told.n, told.percent, told.overall, told.phase, told.phases,
       told.data::json
FROM moment
CROSS JOIN json_to_recordset(:told::json) AS told (
    key bigint, n integer, percent double precision, overall double precision, phase text,
    phases json, data text
)
ORDER BY told.key
ON CONFLICT (key) DO UPDATE
SET at = excluded.at, n = excluded.n, percent = excluded.percent, overall = excluded.overall,
    phase = excluded.phase, phases = excluded.phases, data = excluded.data
WHERE old.n <= excluded.n;

-- name: put_units
-- Units are planned, start or end. Without a position, a known unit keeps its own. The end of a
-- unit is stored once in a run. Returns the phases that have more units now, and the units whose
-- end was stored before.
-- returns: key bigint, phase text, unit text?
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
move AS MATERIALIZED (
    SELECT move.*
    FROM json_to_recordset(:moves::json) AS move (
        key bigint, n integer, turn integer, state smallint, phase text, unit text, result text,
        error text
    )
),
moved AS (
    INSERT INTO millrace.unit AS old (key, at, n, turn, state, phase, unit, result, error)
    SELECT move.key, moment.at, move.n, move.turn, move.state, move.phase, move.unit,
           move.result::json, move.error::json
    FROM moment
    CROSS JOIN move
    ORDER BY move.key, move.phase COLLATE "C", move.unit COLLATE "C"
    ON CONFLICT (key, phase, unit) DO UPDATE
    SET at = excluded.at, n = excluded.n, state = excluded.state, result = excluded.result,
        error = excluded.error, turn = coalesce(nullif(excluded.turn, 0), old.turn)
    WHERE old.n <= excluded.n
      AND NOT (old.n = excluded.n AND old.state = excluded.state AND old.state > 1)
    RETURNING old.key, old.phase, old.unit, old.xmax = 0 AS fresh
)
SELECT DISTINCT key, phase, NULL AS unit
FROM moved
WHERE fresh
UNION ALL
(
    SELECT key, phase, unit FROM move WHERE state > 1
    EXCEPT
    SELECT key, phase, unit FROM moved
);

-- name: crowded_phases
-- Which of these phases have more units than allowed.
-- returns: key bigint, phase text
SELECT named.key, named.phase
FROM json_to_recordset(:phases::json) AS named (key bigint, phase text)
WHERE (
    SELECT count(*)
    FROM (
        SELECT 1
        FROM millrace.unit AS unit
        WHERE unit.key = named.key AND unit.phase = named.phase
        LIMIT :max::integer + 1
    ) AS few
) > :max::integer;

-- name: insert_phases
-- Phases have completed. The first result of a phase stays. Returns the phases that are new.
-- returns: key bigint, name text
INSERT INTO millrace.phase (key, at, n, name, result)
SELECT done.key, moment.at, done.n, done.name, done.result::json
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
CROSS JOIN json_to_recordset(:phases::json) AS done (
    key bigint, n integer, name text, result text
)
ORDER BY done.key, done.name COLLATE "C"
ON CONFLICT (key, name) DO NOTHING
RETURNING key, name;

-- name: take_over
-- New jobs take over what their predecessors have completed, if they ask for the same: all phases
-- before the first one with failed units. That phase runs again, and so do the phases after it.
-- Completed units of all phases are taken over, so that they are not repeated.
WITH heir AS MATERIALIZED (
    SELECT job.key, old.key AS source
    FROM millrace.job AS job
    JOIN millrace.job AS old ON old.id = job.retry_of
    WHERE job.key = ANY (:keys::bigint[])
      AND old.payload::text IS NOT DISTINCT FROM job.payload::text
),
failed AS MATERIALIZED (
    SELECT DISTINCT heir.key, unit.phase AS name
    FROM heir
    JOIN millrace.unit AS unit ON unit.key = heir.source AND unit.state = 3
),
later AS MATERIALIZED (
    SELECT DISTINCT heir.key, step.name
    FROM heir
    JOIN failed ON failed.key = heir.key
    JOIN millrace.run AS run ON run.key = heir.source
    CROSS JOIN LATERAL json_array_elements_text(run.phases) WITH ORDINALITY AS step (name, turn)
    JOIN LATERAL json_array_elements_text(run.phases) WITH ORDINALITY AS first (name, turn)
        ON first.name = failed.name AND first.turn < step.turn
),
phases AS (
    INSERT INTO millrace.phase (key, at, n, name, result)
    SELECT heir.key, phase.at, 0, phase.name, phase.result
    FROM heir
    JOIN millrace.phase AS phase ON phase.key = heir.source
    WHERE (heir.key, phase.name) NOT IN (SELECT key, name FROM failed)
      AND (heir.key, phase.name) NOT IN (SELECT key, name FROM later)
)
INSERT INTO millrace.unit (key, at, n, turn, state, phase, unit, result)
SELECT heir.key, unit.at, 0, unit.turn, unit.state, unit.phase, unit.unit, unit.result
FROM heir
JOIN millrace.unit AS unit ON unit.key = heir.source AND unit.state = 2;

-- name: phases_of_job
-- The phases that a job has completed, in order of completion, and when the run of each started, if
-- it has ended.
-- returns: name text, result json?, n integer, at bigint, run_started_at bigint?
SELECT phase.name, phase.result, phase.n, millrace.ms_of(phase.at) AS at,
       millrace.ms_of(attempt.started_at) AS run_started_at
FROM millrace.phase AS phase
LEFT JOIN millrace.attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n
WHERE phase.key = :key::bigint
ORDER BY phase.at, phase.n, phase.name COLLATE "C";

-- name: ended_units
-- Units that have ended, of phases that have not.
-- returns: phase text, unit text, state smallint, result json?, error json?
SELECT phase, unit, state, result, error
FROM millrace.unit
WHERE key = :key::bigint
  AND state > 1
  AND phase NOT IN (SELECT name FROM millrace.phase WHERE key = :key::bigint)
ORDER BY phase, turn, unit;

-- name: checkpoints_of_job
-- The failed units of completed phases, by phase; and the charges before the newest run that stored
-- anything. What was taken over from a predecessor has run 0, and -1 stands for it.
-- returns: failed text?, tries integer?
SELECT (
           SELECT json_object_agg(phase, failed)::text
           FROM (
               SELECT unit.phase, count(*) AS failed
               FROM millrace.unit AS unit
               JOIN millrace.phase AS phase ON phase.key = unit.key AND phase.name = unit.phase
               WHERE unit.key = :key::bigint AND unit.state = 3
               GROUP BY unit.phase
           ) AS broken
       ) AS failed,
       CASE
           WHEN newest.n = 0 THEN -1
           WHEN newest.n > 0 THEN coalesce(
               (
                   SELECT tries
                   FROM millrace.attempt
                   WHERE key = :key::bigint AND n = newest.n - 1
               ),
               0
           )
       END AS tries
FROM (
    SELECT max(n) AS n
    FROM (
        SELECT n FROM millrace.phase WHERE key = :key::bigint
        UNION ALL
        SELECT n FROM millrace.unit WHERE key = :key::bigint
    ) AS left_behind
) AS newest;

-- name: progress_of_job
-- The last progress of a job, when the run that reported it started and ended, if it has ended,
-- and how the last run of the job ended.
-- returns: key bigint, phase text?, phases json?, percent double precision?,
--   overall double precision?, data json?, at bigint?, n integer?, run_started_at bigint?,
--   run_finished_at bigint?, last_outcome smallint?
SELECT job.key, run.phase, run.phases, run.percent, run.overall, run.data,
       millrace.ms_of(run.at) AS at, run.n,
       millrace.ms_of(told.started_at) AS run_started_at,
       millrace.ms_of(told.finished_at) AS run_finished_at,
       (
           SELECT attempt.outcome
           FROM millrace.attempt AS attempt
           WHERE attempt.key = job.key
           ORDER BY attempt.n DESC
           LIMIT 1
       ) AS last_outcome
FROM millrace.job AS job
LEFT JOIN millrace.run AS run ON run.key = job.key
LEFT JOIN millrace.attempt AS told ON told.key = run.key AND told.n = run.n
WHERE job.key = (SELECT key FROM millrace.job_name WHERE id = :id::uuid);

-- name: progress_of_jobs
-- The last progress of these jobs, as for one job.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: id uuid, key bigint, phase text?, phases json?, percent double precision?,
--   overall double precision?, data json?, at bigint?, n integer?, run_started_at bigint?,
--   run_finished_at bigint?, last_outcome smallint?
-- timeout: reader
SELECT asked.id, job.key, run.phase, run.phases, run.percent, run.overall, run.data,
       millrace.ms_of(run.at) AS at, run.n,
       millrace.ms_of(told.started_at) AS run_started_at,
       millrace.ms_of(told.finished_at) AS run_finished_at,
       (
           SELECT attempt.outcome
           FROM millrace.attempt AS attempt
           WHERE attempt.key = job.key
           ORDER BY attempt.n DESC
           LIMIT 1
       ) AS last_outcome
FROM unnest(:ids::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named
JOIN millrace.job AS job ON job.key = named.key
LEFT JOIN millrace.run AS run ON run.key = job.key
LEFT JOIN millrace.attempt AS told ON told.key = run.key AND told.n = run.n;

-- name: phases_of_jobs
-- The phases that these jobs have completed, as for one job.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: key bigint, name text, result json?, n integer, at bigint, run_started_at bigint?
-- timeout: reader
SELECT phase.key, phase.name, phase.result, phase.n, millrace.ms_of(phase.at) AS at,
       millrace.ms_of(attempt.started_at) AS run_started_at
FROM millrace.phase AS phase
LEFT JOIN millrace.attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n
WHERE phase.key = ANY (:keys::bigint[])
ORDER BY phase.key, phase.at, phase.n, phase.name COLLATE "C";

-- name: unit_counts_of_jobs
-- How many units of each phase of these jobs are in each state.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: key bigint, phase text, planned bigint, running bigint, completed bigint, failed bigint
-- timeout: reader
SELECT unit.key, unit.phase,
       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,
       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,
       count(*) FILTER (WHERE state = 2) AS completed,
       count(*) FILTER (WHERE state = 3) AS failed
FROM unnest(:keys::bigint[]) AS named (key)
CROSS JOIN LATERAL (
    SELECT coalesce(max(n), 0) AS n
    FROM millrace.attempt AS attempt
    WHERE attempt.key = named.key
) AS ended
JOIN millrace.unit AS unit ON unit.key = named.key
GROUP BY unit.key, unit.phase
ORDER BY unit.key, unit.phase;

-- name: first_units_of_jobs
-- The first units of these jobs, so many of each, in the order of phase and position.
-- only: postgres, because a statement of SQLite goes to no server, and `histories` goes job by job.
-- returns: key bigint, phase text, unit text, turn integer, state smallint, result json?,
--   error json?, n integer, at bigint
-- timeout: reader
SELECT first.key, first.phase, first.unit, first.turn,
       CASE WHEN first.state = 1 AND EXISTS (
           SELECT 1
           FROM millrace.attempt AS ended
           WHERE ended.key = first.key AND ended.n = first.n
       ) THEN 0::smallint ELSE first.state END AS state,
       first.result, first.error, first.n, millrace.ms_of(first.at) AS at
FROM unnest(:keys::bigint[]) AS named (key)
CROSS JOIN LATERAL (
    SELECT unit.*
    FROM millrace.unit AS unit
    WHERE unit.key = named.key
    ORDER BY unit.phase, unit.turn, unit.unit
    LIMIT :limit::integer
) AS first
ORDER BY first.key, first.phase, first.turn, first.unit;

-- name: unit_counts
-- How many units of each phase are in each state. A unit runs only while its run does.
-- returns: phase text, planned bigint, running bigint, completed bigint, failed bigint
SELECT unit.phase,
       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,
       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,
       count(*) FILTER (WHERE state = 2) AS completed,
       count(*) FILTER (WHERE state = 3) AS failed
FROM millrace.unit AS unit
CROSS JOIN (
    SELECT coalesce(max(n), 0) AS n
    FROM millrace.attempt
    WHERE key = :key::bigint
) AS ended
WHERE unit.key = :key::bigint
GROUP BY unit.phase
ORDER BY unit.phase;

-- name: units_of_job
-- A page of units, in the order of phase and position, which is that of an index. A unit runs only
-- while its run does.
-- returns: phase text, unit text, turn integer, state smallint, result json?, error json?,
--   n integer, at bigint
SELECT *
FROM millrace.list_units(
    :id::uuid, :after_phase::text, :after_turn::integer, :after_unit::text, :last_phase::text,
    :state::smallint, :limit::integer
);

-- name: holders_of_unit
-- Jobs that work on a unit of this name, longest first: their run has no ledger row.
-- returns: id uuid, phase text, unit text, at bigint
SELECT job.id, unit.phase, unit.unit, millrace.ms_of(unit.at) AS at
FROM millrace.unit AS unit
JOIN millrace.job AS job ON job.key = unit.key
WHERE unit.unit = :unit::text
  AND unit.state = 1
  AND NOT EXISTS (
      SELECT 1
      FROM millrace.attempt AS ended
      WHERE ended.key = unit.key AND ended.n = unit.n
  )
ORDER BY unit.at, unit.key, unit.phase
LIMIT :limit::integer;
