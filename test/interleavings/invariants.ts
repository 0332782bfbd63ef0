/** What must be true of the tables whenever no client is in the middle of a call. */
import type { PostgresTestStore } from "../support/stores.ts";

/** Each query counts something that must be one. */
const CHECKS: readonly (readonly [complaint: string, query: string])[] = [
  [
    "is not in exactly one place, lease or end",
    `SELECT job.key, (
       (SELECT count(*) FROM millrace.scheduled AS place WHERE place.key = job.key)
       + (SELECT count(*) FROM millrace.ready AS place WHERE place.key = job.key)
       + (SELECT count(*) FROM millrace.blocked AS place WHERE place.key = job.key)
       + (SELECT count(*) FROM millrace.attempt AS done
          WHERE done.key = job.key AND done.state IS NOT NULL)
       + (SELECT count(*) FROM millrace.lease AS lease
          CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
          WHERE run.key = job.key AND NOT EXISTS (
            SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n))
     ) AS found
     FROM millrace.job AS job`,
  ],
  [
    "is told to have ended another number of times than it has",
    `SELECT job.key, 1 + (
       SELECT count(*) FROM (
         SELECT keys FROM millrace.event_outbox WHERE kind IN (3, 5, 6)
         UNION ALL SELECT keys FROM millrace.event WHERE kind IN (3, 5, 6)
       ) AS told WHERE job.key = ANY (told.keys)
     ) - (SELECT count(*) FROM millrace.attempt AS done
          WHERE done.key = job.key AND done.state IS NOT NULL) AS found
     FROM millrace.job AS job`,
  ],
  [
    "is over and keeps a dedup key or a request to cancel it",
    `SELECT done.key, 1 + (SELECT count(*) FROM millrace.dedup WHERE job = done.key)
       + (SELECT count(*) FROM millrace.cancel_request AS asked WHERE asked.key = done.key) AS found
     FROM millrace.attempt AS done WHERE done.state IS NOT NULL`,
  ],
  [
    "shares its dedup key with another that is not over",
    `SELECT min(job.key) AS key, count(*) AS found FROM millrace.job AS job
     WHERE job.dedup IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM millrace.attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL)
     GROUP BY job.tenant, job.type, job.dedup`,
  ],
  [
    "repeats a job that another repeats which is not over",
    `SELECT min(job.key) AS key, count(*) AS found FROM millrace.job AS job
     WHERE job.retry_of IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM millrace.attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL)
     GROUP BY job.retry_of`,
  ],
  [
    "has a name, and not one run that goes on, and began or is to run alone",
    `SELECT lock.job AS key, (
       SELECT count(*) FROM millrace.leased_run AS run
       WHERE run.key = lock.job AND run.n = lock.n
         AND (run.started_at IS NOT NULL OR run.alone) AND NOT EXISTS (
         SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n)
     ) AS found
     FROM millrace.lock AS lock`,
  ],
  [
    "runs, and does not have its key",
    `SELECT job.key, (
       SELECT count(*) FROM millrace.lock AS lock
       WHERE lock.tenant = job.tenant AND lock.name = job.concurrency
         AND lock.job = job.key AND lock.n = run.n
     ) AS found
     FROM millrace.lease AS lease
     CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
     JOIN millrace.job AS job ON job.key = run.key
     WHERE job.concurrency IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n)`,
  ],
  [
    "waits for others, and none is recorded",
    `SELECT place.key, least(1, (
       SELECT count(*) FROM millrace.dependency AS link WHERE link.job = place.key)) AS found
     FROM millrace.blocked AS place WHERE place.gate = 0`,
  ],
  [
    "is said to wait for others, and does not",
    `SELECT dependency.job AS key, (
       SELECT count(*) FROM millrace.blocked AS place
       WHERE place.key = dependency.job AND place.gate = 0) AS found
     FROM millrace.dependency AS dependency`,
  ],
  [
    "has a start, and its lease does not name it",
    `SELECT start.key, (
       SELECT count(*) FROM millrace.leased_run AS run
       WHERE run.lease = start.lease AND run.key = start.key) AS found
     FROM millrace.run_start AS start`,
  ],
  [
    "is told to have started another number of times than it has",
    `SELECT run.key, (
       SELECT count(*) FROM (
         SELECT keys FROM millrace.event_outbox WHERE kind = 2
         UNION ALL SELECT keys FROM millrace.event WHERE kind = 2
       ) AS told WHERE run.key = ANY (told.keys)
     ) + (run.started_at IS NULL)::integer - (
       SELECT count(*) FROM millrace.attempt AS earlier
       WHERE earlier.key = run.key AND earlier.n < run.n AND earlier.started_at IS NOT NULL
     ) AS found
     FROM millrace.leased_run AS run`,
  ],
  [
    "is named by the ledger or by a place, and has gone",
    `SELECT key, 2 AS found FROM (
       SELECT key FROM millrace.attempt UNION SELECT key FROM millrace.ready
       UNION SELECT key FROM millrace.scheduled UNION SELECT key FROM millrace.blocked
     ) AS named WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = named.key)`,
  ],
];

/** What is wrong, in words. */
export async function violations({ pool, schema }: PostgresTestStore): Promise<string[]> {
  const all = CHECKS.map(([complaint, query]) => {
    return `SELECT '${complaint}' AS complaint, key, found FROM (${query}) AS judged`;
  });
  const text = all.join(" UNION ALL ").replaceAll("millrace.", `"${schema}".`);
  const { rows } = await pool.query<{ complaint: string; key: string; found: string }>(
    `SELECT * FROM (${text}) AS judged WHERE found <> 1`,
  );
  return rows.map(({ complaint, key, found }) => `job ${key} ${complaint} (${found})`);
}
