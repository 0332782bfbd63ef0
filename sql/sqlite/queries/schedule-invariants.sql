-- Invariants of schedules and of the figures of minutes: each query returns the names of what
-- breaks one. The catalogue in `src/store/doctor/catalogue.ts` says what each means.

-- row OffendingNameRow: key integer?, id blob?, name text

-- name: overdue_schedules
-- Schedules whose next slot was due long ago, although workers are alive that make their jobs.
-- Every minute, a living worker notes that it declares a schedule of code.
-- returns: OffendingNameRow
SELECT NULL AS key, NULL AS id, schedule.name
FROM millrace_schedule AS schedule
WHERE schedule.paused_at IS NULL
  AND schedule.next_slot < :now - 300000
  AND (schedule.owner = 2 OR schedule.declared_at > :now - 120000)
  AND EXISTS (
      SELECT 1
      FROM millrace_worker AS worker
      WHERE worker.until > :now
        AND worker.joined_at < :now - 300000
  )
ORDER BY schedule.next_slot, schedule.name
LIMIT :limit;

-- name: unfolded_minutes
-- Types whose runs were counted long ago and are not in the figures, although workers are alive.
-- The oldest rows are examined: if these are new, all are.
-- returns: OffendingNameRow
SELECT DISTINCT NULL AS key, NULL AS id, coalesce(name.text, 'type ' || counted.type) AS name
FROM (
    SELECT at, type FROM millrace_minute_outbox ORDER BY number LIMIT :examined
) AS counted
LEFT JOIN millrace_interned_name AS name ON name.id = counted.type
WHERE counted.at < :now - 300000
  AND EXISTS (
      SELECT 1
      FROM millrace_worker AS worker
      WHERE worker.until > :now
        AND worker.joined_at < :now - 300000
  )
ORDER BY 3
LIMIT :limit;

-- name: ticks_without_schedule
-- Schedules that are gone and have ticks. Reads all ticks.
-- returns: OffendingNameRow
SELECT DISTINCT NULL AS key, NULL AS id, tick.schedule AS name
FROM millrace_schedule_tick AS tick
WHERE NOT EXISTS (
    SELECT 1 FROM millrace_schedule AS schedule WHERE schedule.name = tick.schedule
)
ORDER BY 3
LIMIT :limit;

-- name: minutes_without_name
-- Types and lanes of figures that have no name. Reads all figures.
-- returns: OffendingNameRow
SELECT NULL AS key, NULL AS id, 'type ' || figure.type || ', lane ' || figure.lane AS name
FROM (
    SELECT type, lane FROM millrace_minute
    UNION
    SELECT type, lane FROM millrace_minute_outbox
) AS figure
WHERE NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = figure.type)
   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = figure.lane)
ORDER BY figure.type, figure.lane
LIMIT :limit;
