-- apart: one statement claims a whole batch, where SQLite looks at lane after lane.

-- tuple ClaimTuple: lost boolean, key bigint?, id uuid?, created_at bigint, kind text,
--   payload json?, payload_version text?, correlation text?, parent uuid?, concurrency text?,
--   tags json?

-- name: claim
-- Claims a batch of due jobs for a worker and writes its lease. The first row describes the batch,
-- the other rows are its jobs. In the first row `id` is null, `key` is the number of the lease, or
-- null if no job was claimed, `payload` has the lists of the lease, `created_at` is how many
-- microseconds the scan has taken, and `kind` has the words `alone`, if a job waits that must run
-- alone, and `all`, if no other job waits in the lanes. Its `tags` are about limits. In the other
-- rows `kind` has type, tenant, lane, priority, most attempts, flags and the time limit, if there
-- is one.
-- returns tuples: ClaimTuple
SELECT *
FROM millrace.claim_batch(
    :worker::uuid, :secret::text, :lanes::integer[], :types::integer[], :tenants::integer[],
    :prefetch::boolean, :limit::integer, :mark_lanes::integer[], :mark_priorities::integer[],
    :mark_ranks::bigint[], :mark_keys::bigint[], :mark_ends::integer[], :once::integer,
    :often::integer, :cap::integer, :lent::integer[], :lent_counts::integer[], :priority::integer,
    :now::timestamptz
);

-- name: claimed_by
-- The batch of a claim whose answer was lost, in the form of `claim`. Only the claimer knows the
-- secret.
-- returns tuples: ClaimTuple
WITH run AS MATERIALIZED (
    SELECT lease.number, run.turn, run.key, run.n, run.rank,
           coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes
    FROM millrace.lease AS lease
    CROSS JOIN LATERAL unnest(lease.keys, lease.ns, lease.ranks)
        WITH ORDINALITY AS run (key, n, rank, turn)
    LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1
    WHERE lease.worker = :worker::uuid
      AND lease.secret = :secret::text
      AND NOT EXISTS (
          SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
      )
)
SELECT false AS lost, number AS key, NULL::uuid AS id, NULL::bigint AS created_at,
       NULL::text AS kind,
       json_build_array(
           array_agg(key ORDER BY turn), array_agg(rank ORDER BY turn), array_agg(n ORDER BY turn),
           array_agg(tries ORDER BY turn), array_agg(crashes ORDER BY turn)
       ) AS payload,
       NULL::text AS payload_version, NULL::text AS correlation, NULL::uuid AS parent,
       NULL::text AS concurrency, NULL::json AS tags
FROM run
GROUP BY number
UNION ALL
SELECT false, job.key, job.id, millrace.ms_of(job.created_at),
       concat_ws(
           ' ', job.type, job.tenant, job.lane, job.priority, job.max_attempts, job.flags,
           (job.retry_of IS NOT NULL)::integer, job.timeout_ms
       ),
       job.payload, job.payload_version, job.correlation, job.parent, job.concurrency, job.tags
FROM run
JOIN millrace.job AS job ON job.key = run.key
ORDER BY id NULLS FIRST;
