-- Adds jobs that have crashed before to the candidates of a claim: the most urgent `most_once` jobs
-- with one crash, and the most urgent `most_often` with more but fewer than `cap`. Without `cap`
-- there is no limit. The answer is the batch in the order of claims, with only the most urgent job
-- of each free lock. Within a priority they come before jobs without a crash: a backlog must not
-- put off the run that shows whether a job kills its process. Of the lock `awaited`, only jobs
-- above its priority take part.
--
-- Each lane and number of crashes is one range of the index `ready_crashed`. Without `cap` the
-- ranges are scanned again, further each time, if several candidates ask for one lock, for a
-- limited number of rounds. The settings are those of `claim_batch`.
CREATE FUNCTION millrace.add_crashed(
    in_lanes integer[], of_types integer[], of_tenants integer[], closed integer[], parked bigint[],
    most integer, most_once integer, most_often integer, cap integer, awaited text,
    awaited_priority integer,
    INOUT places tid[], urgency integer[], INOUT keys bigint[], INOUT ranks bigint[],
    INOUT ns integer[], INOUT tries integer[], INOUT crashes integer[], INOUT is_keyed boolean
)
LANGUAGE plpgsql VOLATILE
AS $add$
#variable_conflict use_column
DECLARE
    once_limit  integer := CASE WHEN cap IS NULL THEN most ELSE least(most, most_once) END;
    often_limit integer := CASE WHEN cap IS NULL THEN most ELSE least(most, most_often) END;
    width       integer := 1;
    names       text[];
    due         record;
    batch       record;
BEGIN
    -- The locks that the candidates without a crash ask for.
    IF is_keyed THEN
        SELECT array_agg(name)
        INTO names
        FROM (
            SELECT ready.tenant || ' ' || ready.concurrency AS name
            FROM unnest(keys) WITH ORDINALITY AS named (key, turn)
            CROSS JOIN LATERAL (
                SELECT tenant, concurrency FROM millrace.ready WHERE key = named.key
                UNION ALL
                SELECT tenant, concurrency FROM millrace.blocked WHERE key = named.key
                LIMIT 1
            ) AS ready
            ORDER BY named.turn
        ) AS row;
    END IF;
    FOR round IN 1 .. 4 LOOP
        WITH RECURSIVE range (lane, crashes) AS (
            SELECT named.lane, (
                SELECT min(ready.crashes)
                FROM millrace.ready AS ready
                WHERE ready.lane = named.lane AND ready.crashes > 0
            )
            FROM unnest(in_lanes) AS named (lane)
            WHERE named.lane <> ALL (closed)
            UNION ALL
            SELECT range.lane, (
                SELECT min(ready.crashes)
                FROM millrace.ready AS ready
                WHERE ready.lane = range.lane
                  AND ready.crashes > range.crashes
                  AND ready.crashes > 0
            )
            FROM range
            WHERE range.crashes < coalesce(cap, 2147483647)
        ),
        front AS MATERIALIZED (
            SELECT front.*
            FROM range
            CROSS JOIN LATERAL (
                SELECT ctid AS place, priority, key, rank, n, tries, crashes,
                       tenant || ' ' || concurrency AS name
                FROM millrace.ready
                WHERE lane = range.lane
                  AND crashes = range.crashes
                  AND crashes > 0
                  AND (of_types IS NULL OR type = ANY (of_types))
                  AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
                  AND type <> ALL (closed)
                  AND tenant <> ALL (closed)
                  AND (tenant::bigint << 32) + type <> ALL (parked)
                  AND (concurrency IS NULL OR NOT EXISTS (
                      SELECT 1
                      FROM millrace.lock AS lock
                      WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency
                  ))
                  AND (
                      awaited IS NULL
                      OR concurrency IS NULL
                      OR priority < awaited_priority
                      OR tenant || ' ' || concurrency <> awaited
                  )
                ORDER BY priority, rank, key
                LIMIT width * CASE WHEN range.crashes = 1 THEN once_limit ELSE often_limit END
                FOR UPDATE SKIP LOCKED
            ) AS front
            WHERE cap IS NULL OR range.crashes < cap
        )
        SELECT array_agg(place) AS places, array_agg(priority) AS urgency, array_agg(key) AS keys,
               array_agg(rank) AS ranks, array_agg(n) AS ns, array_agg(tries) AS tries,
               array_agg(crashes) AS crashes, array_agg(name) AS names
        INTO due
        FROM (
            (
                SELECT * FROM front WHERE crashes = 1 ORDER BY priority, rank, key
                LIMIT width * once_limit
            )
            UNION ALL
            (
                SELECT * FROM front WHERE crashes > 1 ORDER BY priority, rank, key
                LIMIT width * often_limit
            )
        ) AS row;
        IF due.keys IS NULL THEN
            RETURN;
        END IF;

        SELECT array_agg(place) AS places, array_agg(key) AS keys, array_agg(rank) AS ranks,
               array_agg(n) AS ns, array_agg(tried) AS tries, array_agg(crashed) AS crashes,
               bool_or(name IS NOT NULL) AS is_keyed
        INTO batch
        FROM (
            SELECT *
            FROM (
                SELECT item.*, row_number() OVER (
                           PARTITION BY coalesce(name, key::text)
                           ORDER BY priority, crashed = 0, rank, key
                       ) AS turn
                FROM unnest(
                    places || due.places, urgency || due.urgency, keys || due.keys,
                    ranks || due.ranks, ns || due.ns, tries || due.tries, crashes || due.crashes,
                    coalesce(names, array_fill(NULL::text, ARRAY[coalesce(cardinality(keys), 0)]))
                        || due.names
                ) AS item (place, priority, key, rank, n, tried, crashed, name)
            ) AS item
            WHERE turn = 1
            ORDER BY priority, crashed = 0, rank, key
            LIMIT most
        ) AS first;
        EXIT WHEN cap IS NOT NULL OR cardinality(due.keys) < width * most;
        EXIT WHEN (
            SELECT count(name) = count(DISTINCT name) FROM unnest(names || due.names) AS item (name)
        );
        width := 4 * width;
    END LOOP;
    places := batch.places;
    keys := batch.keys;
    ranks := batch.ranks;
    ns := batch.ns;
    tries := batch.tries;
    crashes := batch.crashes;
    is_keyed := batch.is_keyed;
END
$add$;
