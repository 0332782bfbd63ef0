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

-- The ranks of candidates from the queues of limits. In a fair lane they come before the jobs with
-- turns: the queues have few permits to give, and a backlog with turns never ends.
CREATE FUNCTION millrace.ranks_in_queues(keys bigint[], ranks bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE
RETURN CASE WHEN NOT EXISTS (SELECT 1 FROM millrace.fair_lane) THEN ranks ELSE (
    SELECT array_agg(
               CASE
                   WHEN fair.lane IS NULL THEN named.rank
                   ELSE named.rank - 9000000000000000
               END
               ORDER BY named.turn
           )
    FROM unnest(keys, ranks) WITH ORDINALITY AS named (key, rank, turn)
    LEFT JOIN millrace.blocked AS blocked ON blocked.key = named.key
    LEFT JOIN millrace.fair_lane AS fair ON fair.lane = blocked.lane
) END;

-- Gives jobs their turns: key, rank and due time of each. Jobs that another transaction is moving
-- are skipped, and so are jobs that have a turn. The rows are looked up by their keys: the planner
-- would scan the whole backlog for each call.
CREATE FUNCTION millrace.set_turns(turns json)
RETURNS void
LANGUAGE plpgsql VOLATILE
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
END
$set$;
