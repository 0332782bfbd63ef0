-- The ranks of candidates without their turns: due times in microseconds.
CREATE FUNCTION millrace.ranks_without_turns(keys bigint[], ranks bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE
RETURN (
    SELECT array_agg(coalesce(ready.due * 1000, blocked.rank, named.rank) ORDER BY named.turn)
    FROM unnest(keys, ranks) WITH ORDINALITY AS named (key, rank, turn)
    LEFT JOIN millrace.ready AS ready ON ready.key = named.key AND named.rank < 0
    LEFT JOIN millrace.blocked AS blocked
        ON blocked.key = named.key AND named.rank < 0 AND ready.key IS NULL
);

-- Gives jobs their turns: key, rank, due time and queue of each. Jobs that another transaction is
-- moving are skipped, and so are jobs that have a turn or have left the queue. The rows are looked
-- up by their keys: the planner would scan the whole backlog for each call.
CREATE FUNCTION millrace.set_turns(turns json)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET jit = off
AS $set$
BEGIN
    UPDATE millrace.ready AS ready
    SET rank = turn.rank,
        due = turn.due
    FROM (
        SELECT own.key, (turn.value ->> 1)::bigint AS rank, (turn.value ->> 2)::bigint AS due
        FROM json_array_elements(turns) AS turn (value)
        JOIN millrace.ready AS own ON own.key = (turn.value ->> 0)::bigint
        WHERE own.rank >= 0
        FOR UPDATE OF own SKIP LOCKED
    ) AS turn
    WHERE ready.key = turn.key;
    UPDATE millrace.blocked AS blocked
    SET turn = turn.rank
    FROM (
        SELECT own.key, (turn.value ->> 1)::bigint AS rank
        FROM json_array_elements(turns) AS turn (value)
        JOIN millrace.blocked AS own ON own.key = (turn.value ->> 0)::bigint
        WHERE own.gate = (turn.value ->> 3)::integer
          AND own.gate < -2
          AND own.turn IS NULL
        FOR UPDATE OF own SKIP LOCKED
    ) AS turn
    WHERE blocked.key = turn.key;
END
$set$;
