-- Invariants of schedules and of the figures of minutes: each query returns the names of what
-- breaks one. The catalogue in `src/store/doctor/catalogue.ts` says what each means.

-- row OffendingNameRow: key bigint?, id uuid?, name text

-- name: overdue_schedules
-- Schedules whose next slot was due long ago, although workers are alive that make their jobs.
-- Every minute, a living worker notes that it declares a schedule of code.
-- returns: OffendingNameRow
-- timeout: doctor
SELECT NULL::bigint AS key, NULL::uuid AS id, schedule.name
FROM millrace.schedule AS schedule
WHERE schedule.paused_at IS NULL
  AND schedule.next_slot < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  AND (
      schedule.owner = 2
      OR schedule.declared_at > millrace.clock_at(:now::timestamptz) - interval '2 minutes'
  )
  AND EXISTS (
      SELECT 1
      FROM millrace.worker AS worker
      WHERE worker.until > millrace.clock_at(:now::timestamptz)
        AND worker.joined_at < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  )
ORDER BY schedule.next_slot, schedule.name
LIMIT :limit::integer;

-- name: unfolded_minutes
-- Types whose runs were counted long ago and are not in the figures, although workers are alive.
-- The oldest rows are examined: if these are new, all are.
-- returns: OffendingNameRow
-- timeout: doctor
SELECT DISTINCT NULL::bigint AS key, NULL::uuid AS id,
       coalesce(name.text, 'type ' || counted.type) AS name
FROM (
    SELECT at, type FROM millrace.minute_outbox LIMIT :examined::bigint
) AS counted
LEFT JOIN millrace.interned_name AS name ON name.id = counted.type
WHERE counted.at < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  AND EXISTS (
      SELECT 1
      FROM millrace.worker AS worker
      WHERE worker.until > millrace.clock_at(:now::timestamptz)
        AND worker.joined_at < millrace.clock_at(:now::timestamptz) - interval '5 minutes'
  )
ORDER BY 3
LIMIT :limit::integer;

-- name: ticks_without_schedule
-- Schedules that are gone and have ticks. Reads all ticks.
-- returns: OffendingNameRow
-- timeout: doctor
SELECT DISTINCT NULL::bigint AS key, NULL::uuid AS id, tick.schedule AS name
FROM millrace.schedule_tick AS tick
WHERE NOT EXISTS (
    SELECT 1 FROM millrace.schedule AS schedule WHERE schedule.name = tick.schedule
)
ORDER BY 3
LIMIT :limit::integer;

-- name: minutes_without_name
-- Types and lanes of figures that have no name. Reads all figures.
-- returns: OffendingNameRow
-- timeout: doctor
SELECT NULL::bigint AS key, NULL::uuid AS id,
       'type ' || figure.type || ', lane ' || figure.lane AS name
FROM (
    SELECT type, lane FROM millrace.minute
    UNION
    SELECT type, lane FROM millrace.minute_outbox
) AS figure
WHERE NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = figure.type)
   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = figure.lane)
ORDER BY figure.type, figure.lane
LIMIT :limit::integer;
