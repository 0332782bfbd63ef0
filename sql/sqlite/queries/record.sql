-- apart: SQLite goes unit by unit, where PostgreSQL keeps whole batches in one statement.

-- name: forget_run
-- A run starts over: removes the progress of the runs before.
DELETE FROM millrace_run
WHERE key = :key;

-- name: forget_phases
-- A run starts over: removes the phases of the runs before.
DELETE FROM millrace_phase
WHERE key = :key;

-- name: forget_units
-- A run starts over: removes the units of the runs before.
DELETE FROM millrace_unit
WHERE key = :key;

-- name: put_progress
-- Writes the progress of a run.
INSERT INTO millrace_run (key, n, phase, phases, percent, overall, data, at)
VALUES (:key, :n, :phase, :phases, :percent, :overall, :data, :at)
ON CONFLICT (key) DO UPDATE
SET n = :n, phase = :phase, phases = :phases, percent = :percent, overall = :overall, data = :data,
    at = :at;

-- name: move_unit
-- A known unit is planned again, starts, or ends. Without a position, the unit keeps its own. The
-- end of a unit is stored once in a run.
UPDATE millrace_unit
SET n = :n, state = :state, result = :result, error = :error, at = :at,
    turn = coalesce(nullif(:turn, 0), turn)
WHERE key = :key
  AND phase = :phase
  AND unit = :unit
  AND NOT (n = :n AND state = :state AND state > 1);

-- name: insert_unit
-- A new unit. A unit whose end is stored stays as it is.
INSERT INTO millrace_unit (key, phase, unit, turn, n, state, result, error, at)
VALUES (:key, :phase, :unit, :turn, :n, :state, :result, :error, :at)
ON CONFLICT (key, phase, unit) DO NOTHING;

-- name: count_units
-- How many units a phase has, up to a limit.
-- returns: count integer
SELECT count(*) AS count
FROM (SELECT 1 FROM millrace_unit WHERE key = :key AND phase = :phase LIMIT :max);

-- name: insert_phase
-- A phase has completed. The first result of a phase stays.
INSERT INTO millrace_phase (key, name, n, result, at)
VALUES (:key, :name, :n, :result, :at)
ON CONFLICT (key, name) DO NOTHING;

-- name: take_over_phases
-- A new job takes over what its predecessor has completed, if it asks for the same: all phases
-- before the first one with failed units. That phase runs again, and so do the phases after it.
INSERT INTO millrace_phase (key, name, n, result, at)
SELECT job.key, phase.name, 0, phase.result, phase.at
FROM millrace_job AS job
JOIN millrace_job AS old ON old.id = job.retry_of AND old.payload IS job.payload
JOIN millrace_phase AS phase ON phase.key = old.key
WHERE job.key = :key
  AND NOT EXISTS (
      SELECT 1
      FROM (
          SELECT DISTINCT unit.phase AS name
          FROM millrace_unit AS unit
          WHERE unit.key = old.key AND unit.state = 3
      ) AS failed
      WHERE failed.name = phase.name
         OR EXISTS (
             SELECT 1
             FROM millrace_run AS run
             JOIN json_each(run.phases) AS first ON first.value = failed.name
             JOIN json_each(run.phases) AS later ON later.value = phase.name
             WHERE run.key = old.key AND first.key < later.key
         )
  );

-- name: take_over_units
-- A new job takes over the completed units of its predecessor, of all phases, so that they are not
-- repeated.
INSERT INTO millrace_unit (key, phase, unit, turn, n, state, result, at)
SELECT job.key, unit.phase, unit.unit, unit.turn, 0, unit.state, unit.result, unit.at
FROM millrace_job AS job
JOIN millrace_job AS old ON old.id = job.retry_of AND old.payload IS job.payload
JOIN millrace_unit AS unit ON unit.key = old.key
WHERE job.key = :key
  AND unit.state = 2;

-- name: phases_of_job
-- The phases that a job has completed, in order of completion, and when the run of each started, if
-- it has ended.
-- returns: name text, result text?, n integer, at integer, run_started_at integer?
SELECT phase.name, phase.result, phase.n, phase.at, attempt.started_at AS run_started_at
FROM millrace_phase AS phase
LEFT JOIN millrace_attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n
WHERE phase.key = :key
ORDER BY phase.at, phase.n, phase.name;

-- name: ended_units
-- Units that have ended, of phases that have not.
-- returns: phase text, unit text, state integer, result text?, error text?
SELECT phase, unit, state, result, error
FROM millrace_unit
WHERE key = :key
  AND state > 1
  AND phase NOT IN (SELECT name FROM millrace_phase WHERE key = :key)
ORDER BY phase, turn, unit;

-- name: checkpoints_of_job
-- The failed units of completed phases, by phase; and the charges before the newest run that stored
-- anything. What was taken over from a predecessor has run 0, and -1 stands for it.
-- returns: failed text?, tries integer?
SELECT (
           SELECT json_group_object(phase, failed)
           FROM (
               SELECT unit.phase, count(*) AS failed
               FROM millrace_unit AS unit
               JOIN millrace_phase AS phase ON phase.key = unit.key AND phase.name = unit.phase
               WHERE unit.key = :key AND unit.state = 3
               GROUP BY unit.phase
           )
       ) AS failed,
       CASE
           WHEN newest.n = 0 THEN -1
           WHEN newest.n > 0 THEN coalesce(
               (SELECT tries FROM millrace_attempt WHERE key = :key AND n = newest.n - 1), 0
           )
       END AS tries
FROM (
    SELECT max(n) AS n
    FROM (
        SELECT n FROM millrace_phase WHERE key = :key
        UNION ALL
        SELECT n FROM millrace_unit WHERE key = :key
    )
) AS newest;

-- name: progress_of_job
-- The last progress of a job, when the run that reported it started and ended, if it has ended,
-- and how the last run of the job ended.
-- returns: key integer, phase text?, phases text?, percent real?, overall real?, data text?,
--   at integer?, n integer?, run_started_at integer?, run_finished_at integer?,
--   last_outcome integer?
SELECT job.key, run.phase, run.phases, run.percent, run.overall, run.data, run.at, run.n,
       told.started_at AS run_started_at, told.finished_at AS run_finished_at,
       (
           SELECT attempt.outcome
           FROM millrace_attempt AS attempt
           WHERE attempt.key = job.key
           ORDER BY attempt.n DESC
           LIMIT 1
       ) AS last_outcome
FROM millrace_job AS job
LEFT JOIN millrace_run AS run ON run.key = job.key
LEFT JOIN millrace_attempt AS told ON told.key = run.key AND told.n = run.n
WHERE job.key = (SELECT key FROM millrace_job_name WHERE id = :id);

-- name: unit_counts
-- How many units of each phase are in each state. A unit runs only while its run does.
-- returns: phase text, planned integer, running integer, completed integer, failed integer
SELECT unit.phase,
       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,
       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,
       count(*) FILTER (WHERE state = 2) AS completed,
       count(*) FILTER (WHERE state = 3) AS failed
FROM millrace_unit AS unit
CROSS JOIN (
    SELECT coalesce(max(n), 0) AS n
    FROM millrace_attempt
    WHERE key = :key
) AS ended
WHERE unit.key = :key
GROUP BY unit.phase
ORDER BY unit.phase;

-- name: units_of_job
-- A page of units, in the order of phase and position, which is that of an index. A unit runs only
-- while its run does.
-- returns: phase text, unit text, turn integer, state integer, result text?, error text?,
--   n integer, at integer
SELECT phase, unit, turn,
       CASE WHEN state = 1 AND EXISTS (
           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = unit.key AND ended.n = unit.n
       ) THEN 0 ELSE state END AS state,
       result, error, n, at
FROM millrace_unit AS unit
WHERE key = (SELECT key FROM millrace_job_name WHERE id = :id)
  AND (phase, turn, unit) > (:after_phase, :after_turn, :after_unit)
  AND phase <= :last_phase
  AND (
      :state IS NULL
      OR :state = CASE WHEN state = 1 AND EXISTS (
          SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = unit.key AND ended.n = unit.n
      ) THEN 0 ELSE state END
  )
ORDER BY phase, turn, unit
LIMIT :limit;

-- name: holders_of_unit
-- Jobs that work on a unit of this name, longest first: their run has no ledger row.
-- returns: id blob, phase text, unit text, at integer
SELECT job.id, unit.phase, unit.unit, unit.at
FROM millrace_unit AS unit
JOIN millrace_job AS job ON job.key = unit.key
WHERE unit.unit = :unit
  AND unit.state = 1
  AND NOT EXISTS (
      SELECT 1
      FROM millrace_attempt AS ended
      WHERE ended.key = unit.key AND ended.n = unit.n
  )
ORDER BY unit.at, unit.key, unit.phase
LIMIT :limit;
