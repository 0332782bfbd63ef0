-- row ScheduleRow: name text, owner integer, tenant text, cron text, time_zone text,
--   missed_max integer, overlap integer, jitter_ms integer, starts_at integer?, ends_at integer?,
--   job text, next_slot integer?, last_slot integer?, last_job blob?, paused_at integer?,
--   paused_by text?, pause_reason text?, declared_at integer?, created_by text?,
--   created_at integer, updated_at integer, revision integer

-- name: find_schedule
-- One schedule.
-- returns: ScheduleRow
SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at,
       job, next_slot, last_slot, last_job, paused_at, paused_by, pause_reason, declared_at,
       created_by, created_at, updated_at, revision
FROM millrace_schedule
WHERE name = :name;

-- name: list_schedules
-- A page of schedules by name, perhaps of one tenant.
-- returns: ScheduleRow
SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at,
       job, next_slot, last_slot, last_job, paused_at, paused_by, pause_reason, declared_at,
       created_by, created_at, updated_at, revision
FROM millrace_schedule
WHERE name > :after
  AND (:tenant IS NULL OR tenant = :tenant)
ORDER BY name
LIMIT :limit;

-- name: list_due_schedules
-- The schedules with the first slots: made by operators, or declared by this process. A schedule
-- that was ticked or changed in the future is due now.
-- returns: name text, next_slot integer, now integer
SELECT name,
       CASE
           WHEN max(coalesce(last_slot, 0), updated_at) > :now THEN :now
           ELSE next_slot
       END AS next_slot, :now AS now
FROM millrace_schedule
WHERE paused_at IS NULL
  AND (next_slot IS NOT NULL OR max(coalesce(last_slot, 0), updated_at) > :now)
  AND (owner = 2 OR name IN (SELECT value FROM json_each(:declared)))
ORDER BY next_slot, name
LIMIT :limit;

-- name: count_schedules
-- How many schedules operators have made, in all and for one tenant.
-- returns: total integer, of_tenant integer
SELECT count(*) AS total, count(*) FILTER (WHERE tenant = :tenant) AS of_tenant
FROM millrace_schedule
WHERE owner = 2;

-- name: insert_schedule
-- Stores a new schedule.
INSERT INTO millrace_schedule (
    name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at, job,
    next_slot, declared_at, created_by, created_at, updated_at, revision
)
VALUES (
    :name, :owner, :tenant, :cron, :time_zone, :missed_max, :overlap, :jitter_ms, :starts_at,
    :ends_at, :job, :next_slot, CASE WHEN :owner = 1 THEN :now END, :created_by, :now, :now, 1
)
ON CONFLICT DO NOTHING;

-- name: update_schedule
-- Changes a schedule. What is known about its ticks and its pause stays.
UPDATE millrace_schedule
SET owner = :owner, tenant = :tenant, cron = :cron, time_zone = :time_zone,
    missed_max = :missed_max, overlap = :overlap, jitter_ms = :jitter_ms, starts_at = :starts_at,
    ends_at = :ends_at, job = :job, next_slot = :next_slot,
    declared_at = CASE WHEN :owner = 1 THEN :now END, updated_at = :now, revision = revision + 1
WHERE name = :name;

-- name: confirm_schedules
-- Notes that a living process declares these schedules.
UPDATE millrace_schedule
SET declared_at = :now
WHERE name IN (SELECT value FROM json_each(:names))
  AND owner = 1
  AND declared_at < :now;

-- name: list_missing_schedules
-- Which of these names are not stored as schedules of code.
-- returns: name text
SELECT given.value AS name
FROM json_each(:names) AS given
WHERE NOT EXISTS (
    SELECT 1
    FROM millrace_schedule AS schedule
    WHERE schedule.name = given.value
      AND schedule.owner = 1
)
ORDER BY given.value;

-- name: list_ticks
-- The ticks of a schedule before a slot, newest first.
-- returns: slot integer, since integer?, job blob?, outcome integer, at integer
SELECT slot, since, job, outcome, at
FROM millrace_schedule_tick
WHERE schedule = :name
  AND slot < :before
ORDER BY slot DESC
LIMIT :limit;

-- name: find_ticks
-- Which of these slots have a tick. A slot that was missed while the clock was ahead has none.
-- returns: slot integer
SELECT slot
FROM millrace_schedule_tick
WHERE schedule = :name
  AND outcome <> 4
  AND slot IN (SELECT value FROM json_each(:slots));

-- name: find_made_ticks
-- The slots after an instant that have been made, first ones first.
-- returns: slot integer
SELECT slot
FROM millrace_schedule_tick
WHERE schedule = :name
  AND slot > :after
  AND outcome NOT IN (4, 7)
ORDER BY slot
LIMIT :limit;

-- name: set_schedule_back
-- Corrects a schedule that was ticked or changed while the clock was ahead. Its last slot becomes
-- the last one up to now.
UPDATE millrace_schedule
SET next_slot = :next_slot, updated_at = min(updated_at, :now),
    last_slot = (
        SELECT max(tick.slot)
        FROM millrace_schedule_tick AS tick
        WHERE tick.schedule = :name
          AND tick.slot <= :now
          AND tick.outcome <> 7
    )
WHERE name = :name;

-- name: insert_tick
-- Stores what came of a slot. A slot that was missed while the clock was ahead may be made.
INSERT INTO millrace_schedule_tick (schedule, slot, since, job, outcome, at)
VALUES (:name, :slot, :since, :job, :outcome, :now)
ON CONFLICT (schedule, slot) DO UPDATE
SET since = excluded.since, job = excluded.job, outcome = excluded.outcome, at = excluded.at
WHERE millrace_schedule_tick.outcome = 4;

-- name: advance_schedule
-- Notes the last slot and its job, and moves the next slot forward.
UPDATE millrace_schedule
SET next_slot = :next_slot, last_slot = max(coalesce(last_slot, :last_slot), :last_slot),
    last_job = coalesce(:last_job, last_job)
WHERE name = :name;

-- name: prune_ticks
-- Deletes the ticks of a schedule but the newest ones up to now, and the first ones after now.
DELETE FROM millrace_schedule_tick
WHERE schedule = :name
  AND (
      slot <= (
          SELECT slot
          FROM millrace_schedule_tick
          WHERE schedule = :name
            AND slot <= :now
          ORDER BY slot DESC
          LIMIT 1 OFFSET :kept
      )
      OR slot >= (
          SELECT slot
          FROM millrace_schedule_tick
          WHERE schedule = :name
            AND slot > :now
          ORDER BY slot
          LIMIT 1 OFFSET :kept
      )
  );

-- name: pause_schedule
-- Pauses a schedule. A pause that exists keeps its time.
UPDATE millrace_schedule
SET paused_at = coalesce(paused_at, :now), paused_by = :by, pause_reason = :reason
WHERE name = :name;

-- name: resume_schedule
-- Ends the pause of a schedule.
UPDATE millrace_schedule
SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, next_slot = :next_slot
WHERE name = :name;

-- name: delete_schedule
-- Deletes a schedule.
DELETE FROM millrace_schedule
WHERE name = :name;

-- name: delete_ticks
-- Deletes the ticks of a schedule.
DELETE FROM millrace_schedule_tick
WHERE schedule = :name;
