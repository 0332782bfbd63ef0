-- row ScheduleRow: name text, owner smallint, tenant text, cron text, time_zone text,
--   missed_max smallint, overlap smallint, jitter_ms bigint, starts_at bigint?, ends_at bigint?,
--   job json, next_slot bigint?, last_slot bigint?, last_job uuid?, paused_at bigint?,
--   paused_by text?, pause_reason text?, declared_at bigint?, created_by text?,
--   created_at bigint, updated_at bigint, revision integer

-- name: find_schedule
-- One schedule.
-- returns: ScheduleRow
SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms,
       millrace.ms_of(starts_at) AS starts_at, millrace.ms_of(ends_at) AS ends_at, job,
       millrace.ms_of(next_slot) AS next_slot, millrace.ms_of(last_slot) AS last_slot, last_job,
       millrace.ms_of(paused_at) AS paused_at, paused_by, pause_reason,
       millrace.ms_of(declared_at) AS declared_at, created_by,
       millrace.ms_of(created_at) AS created_at, millrace.ms_of(updated_at) AS updated_at, revision
FROM millrace.schedule
WHERE name = :name::text;

-- name: lock_schedule
-- Locks a schedule: what changes it does so one after the other.
-- only: postgres, which has many writers at once
-- returns: revision integer
SELECT revision
FROM millrace.schedule
WHERE name = :name::text
FOR UPDATE;

-- name: read_clock
-- The store's time.
-- only: postgres, where the clock is that of the server
-- returns: now bigint
SELECT millrace.ms_of(millrace.clock_at(:now::timestamptz)) AS now;

-- name: list_schedules
-- A page of schedules by name, perhaps of one tenant.
-- returns: ScheduleRow
-- timeout: reader
SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms,
       millrace.ms_of(starts_at) AS starts_at, millrace.ms_of(ends_at) AS ends_at, job,
       millrace.ms_of(next_slot) AS next_slot, millrace.ms_of(last_slot) AS last_slot, last_job,
       millrace.ms_of(paused_at) AS paused_at, paused_by, pause_reason,
       millrace.ms_of(declared_at) AS declared_at, created_by,
       millrace.ms_of(created_at) AS created_at, millrace.ms_of(updated_at) AS updated_at, revision
FROM millrace.schedule
WHERE name > :after::text
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
ORDER BY name
LIMIT :limit::integer;

-- name: list_due_schedules
-- The schedules with the first slots: made by operators, or declared by this process. A schedule
-- that was ticked or changed in the future is due now.
-- returns: name text, next_slot bigint, now bigint
SELECT name,
       millrace.ms_of(CASE
           WHEN greatest(last_slot, updated_at) > moment.at THEN moment.at
           ELSE next_slot
       END) AS next_slot, millrace.ms_of(moment.at) AS now
FROM millrace.schedule,
     (SELECT millrace.clock_at(:now::timestamptz) AS at OFFSET 0) AS moment
WHERE paused_at IS NULL
  AND (next_slot IS NOT NULL OR greatest(last_slot, updated_at) > moment.at)
  AND (owner = 2 OR name = ANY (:declared::text[]))
ORDER BY next_slot, name
LIMIT :limit::integer;

-- name: lock_new_schedules
-- Makes new schedules of operators one after the other, so that their maximum is kept.
-- only: postgres, which has many writers at once
-- returns: locked bigint
SELECT count(pg_advisory_xact_lock(
    hashtextextended('millrace new schedules ' || 'millrace.schedule'::regclass::oid, 0)
)) AS locked;

-- name: count_schedules
-- How many schedules operators have made, in all and for one tenant.
-- returns: total bigint, of_tenant bigint
SELECT count(*) AS total, count(*) FILTER (WHERE tenant = :tenant::text) AS of_tenant
FROM millrace.schedule
WHERE owner = 2;

-- name: insert_schedule
-- Stores a new schedule.
INSERT INTO millrace.schedule (
    name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at, job,
    next_slot, declared_at, created_by, created_at, updated_at, revision
)
SELECT :name::text, :owner::smallint, :tenant::text, :cron::text, :time_zone::text,
       :missed_max::smallint, :overlap::smallint, :jitter_ms::bigint,
       millrace.at_ms(:starts_at::bigint), millrace.at_ms(:ends_at::bigint), :job::json,
       millrace.at_ms(:next_slot::bigint), CASE WHEN :owner::smallint = 1 THEN moment.at END,
       :created_by::text, moment.at, moment.at, 1
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
ON CONFLICT DO NOTHING;

-- name: update_schedule
-- Changes a schedule. What is known about its ticks and its pause stays.
UPDATE millrace.schedule
SET owner = :owner::smallint, tenant = :tenant::text, cron = :cron::text,
    time_zone = :time_zone::text, missed_max = :missed_max::smallint, overlap = :overlap::smallint,
    jitter_ms = :jitter_ms::bigint, starts_at = millrace.at_ms(:starts_at::bigint),
    ends_at = millrace.at_ms(:ends_at::bigint), job = :job::json,
    next_slot = millrace.at_ms(:next_slot::bigint),
    declared_at = CASE WHEN :owner::smallint = 1 THEN moment.at END, updated_at = moment.at,
    revision = revision + 1
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
WHERE name = :name::text;

-- name: confirm_schedules
-- Notes that a living process declares these schedules. A schedule that another process changes is
-- skipped.
WITH moment AS MATERIALIZED (
    SELECT millrace.clock_at(:now::timestamptz) AS at
),
declared AS MATERIALIZED (
    SELECT name
    FROM millrace.schedule
    WHERE name = ANY (:names::text[])
      AND owner = 1
      AND declared_at < (SELECT at FROM moment)
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE millrace.schedule
SET declared_at = moment.at
FROM moment, declared
WHERE schedule.name = declared.name;

-- name: list_missing_schedules
-- Which of these names are not stored as schedules of code.
-- returns: name text
SELECT given.name
FROM unnest(:names::text[]) AS given (name)
WHERE NOT EXISTS (
    SELECT 1
    FROM millrace.schedule AS schedule
    WHERE schedule.name = given.name
      AND schedule.owner = 1
)
ORDER BY given.name COLLATE "C";

-- name: list_ticks
-- The ticks of a schedule before a slot, newest first.
-- returns: slot bigint, since bigint?, job uuid?, outcome smallint, at bigint
SELECT millrace.ms_of(slot) AS slot, millrace.ms_of(since) AS since, job, outcome,
       millrace.ms_of(at) AS at
FROM millrace.schedule_tick
WHERE schedule = :name::text
  AND slot < millrace.at_ms(:before::bigint)
ORDER BY schedule_tick.slot DESC
LIMIT :limit::integer;

-- name: find_ticks
-- Which of these slots have a tick. A slot that was missed while the clock was ahead has none.
-- returns: slot bigint
SELECT millrace.ms_of(slot) AS slot
FROM millrace.schedule_tick
WHERE schedule = :name::text
  AND outcome <> 4
  AND slot IN (SELECT millrace.at_ms(ms) FROM unnest(:slots::bigint[]) AS ms);

-- name: find_made_ticks
-- The slots after an instant that have been made, first ones first.
-- returns: slot bigint
SELECT millrace.ms_of(slot) AS slot
FROM millrace.schedule_tick
WHERE schedule = :name::text
  AND slot > millrace.at_ms(:after::bigint)
  AND outcome NOT IN (4, 7)
ORDER BY schedule_tick.slot
LIMIT :limit::integer;

-- name: set_schedule_back
-- Corrects a schedule that was ticked or changed while the clock was ahead. Its last slot becomes
-- the last one up to now.
UPDATE millrace.schedule
SET next_slot = millrace.at_ms(:next_slot::bigint), updated_at = least(updated_at, moment.at),
    last_slot = (
        SELECT max(tick.slot)
        FROM millrace.schedule_tick AS tick
        WHERE tick.schedule = :name::text
          AND tick.slot <= moment.at
          AND tick.outcome <> 7
    )
FROM (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
WHERE name = :name::text;

-- name: insert_tick
-- Stores what came of a slot. A slot that was missed while the clock was ahead may be made.
INSERT INTO millrace.schedule_tick AS known (schedule, slot, since, job, outcome, at)
VALUES (
    :name::text, millrace.at_ms(:slot::bigint), millrace.at_ms(:since::bigint), :job::uuid,
    :outcome::smallint, millrace.clock_at(:now::timestamptz)
)
ON CONFLICT (schedule, slot) DO UPDATE
SET since = excluded.since, job = excluded.job, outcome = excluded.outcome, at = excluded.at
WHERE known.outcome = 4;

-- name: advance_schedule
-- Notes the last slot and its job, and moves the next slot forward.
UPDATE millrace.schedule
SET next_slot = millrace.at_ms(:next_slot::bigint),
    last_slot = greatest(last_slot, millrace.at_ms(:last_slot::bigint)),
    last_job = coalesce(:last_job::uuid, last_job)
WHERE name = :name::text;

-- name: prune_ticks
-- Deletes the ticks of a schedule but the newest ones up to now, and the first ones after now.
DELETE FROM millrace.schedule_tick
USING (SELECT millrace.clock_at(:now::timestamptz) AS at) AS moment
WHERE schedule = :name::text
  AND (
      slot <= (
          SELECT kept.slot
          FROM millrace.schedule_tick AS kept
          WHERE kept.schedule = :name::text
            AND kept.slot <= moment.at
          ORDER BY kept.slot DESC
          LIMIT 1 OFFSET :kept::integer
      )
      OR slot >= (
          SELECT kept.slot
          FROM millrace.schedule_tick AS kept
          WHERE kept.schedule = :name::text
            AND kept.slot > moment.at
          ORDER BY kept.slot
          LIMIT 1 OFFSET :kept::integer
      )
  );

-- name: pause_schedule
-- Pauses a schedule. A pause that exists keeps its time.
UPDATE millrace.schedule
SET paused_at = coalesce(paused_at, millrace.clock_at(:now::timestamptz)),
    paused_by = :by::text, pause_reason = :reason::text
WHERE name = :name::text;

-- name: resume_schedule
-- Ends the pause of a schedule.
UPDATE millrace.schedule
SET paused_at = NULL, paused_by = NULL, pause_reason = NULL,
    next_slot = millrace.at_ms(:next_slot::bigint)
WHERE name = :name::text;

-- name: delete_schedule
-- Deletes a schedule.
DELETE FROM millrace.schedule
WHERE name = :name::text;

-- name: delete_ticks
-- Deletes the ticks of a schedule.
DELETE FROM millrace.schedule_tick
WHERE schedule = :name::text;
