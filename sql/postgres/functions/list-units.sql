-- A page of the units of a job, in the order of the index `unit_turn`. A job may have few units or
-- a hundred thousand, so the settings fix the plan: no page sorts all units.
CREATE FUNCTION millrace.list_units(
    job_id uuid, after_phase text, after_turn integer, after_unit text, last_phase text,
    wanted smallint, page_size integer
)
RETURNS TABLE (
    phase text, unit text, turn integer, state smallint, result json, error json, n integer,
    at bigint
)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET jit = off
AS $units$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT phase, unit, turn,
           CASE WHEN state = 1 AND EXISTS (
               SELECT 1
               FROM millrace.attempt AS ended
               WHERE ended.key = unit.key AND ended.n = unit.n
           ) THEN 0::smallint ELSE state END AS state,
           result, error, n, millrace.ms_of(at) AS at
    FROM millrace.unit AS unit
    WHERE key = (SELECT name.key FROM millrace.job_name AS name WHERE name.id = job_id)
      AND (phase, turn, unit) > (after_phase, after_turn, after_unit)
      AND phase <= last_phase
      AND (
          wanted IS NULL
          OR wanted = CASE WHEN state = 1 AND EXISTS (
              SELECT 1
              FROM millrace.attempt AS ended
              WHERE ended.key = unit.key AND ended.n = unit.n
          ) THEN 0 ELSE state END
      )
    ORDER BY phase, turn, unit
    LIMIT page_size;
END
$units$;
