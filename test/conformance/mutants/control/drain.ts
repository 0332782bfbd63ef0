/** What can go wrong with drains: the count of running jobs, and the gate of the installation. */
import type { Faults } from "../all.ts";

export const SQLITE_DRAIN_FAULTS: Faults = {
  countRunning: {
    count_running: [
      ["ended runs count", "WHERE ended.key = claimed.value", "WHERE 0 AND ended.key"],
      ["jobs of other names count", "own.name IN (job.lane, job.type, job.tenant, -2)", "own.name"],
      ["the lane does not count", "(job.lane, job.type", "(job.type"],
      ["no job uses a service", "WHERE service = :gate", "WHERE 0 AND service = :gate"],
      ["the jobs of all workers count", "lease.worker = :worker", ":worker IS NOT NULL"],
    ],
    ids_of_running: [
      ["ids of ended runs", "WHERE ended.key = claimed.value", "WHERE 0 AND ended.key"],
      ["ids of other names", "own.name IN (job.lane, job.type, job.tenant, -2)", "own.name"],
      ["ids of all workers", "lease.worker = :worker", ":worker IS NOT NULL"],
      ["the ids have no end", "LIMIT :limit", "LIMIT 2 * :limit"],
    ],
    "inspect/running.ts": [["a cut count is exact", "isExact: found <= rows", "isExact: true"]],
  },
  "pause of the installation": {
    worker_may_claim: [
      ["a pause of all jobs holds none back", "WHERE name = -2 AND", "WHERE name = -3 AND"],
      [
        "a pause of all jobs has no end",
        "until > :now)\n       ) AS quiet",
        "1)\n       ) AS quiet",
      ],
    ],
    count_due: [["due jobs are not held", "alike.tenant, -2)", "alike.tenant)"]],
    count_behind_gate: [
      [
        "no job is behind it",
        "own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)",
        "own.name IN (waiting.lane, waiting.type, waiting.tenant)",
      ],
      [
        "it shares no job",
        "other.name IN (waiting.lane, waiting.type, waiting.tenant, -2)",
        "other.name IN (waiting.lane, waiting.type, waiting.tenant)",
      ],
    ],
  },
};

export const POSTGRES_DRAIN_FAULTS: Faults = {
  countRunning: {
    count_running: [
      ["ended runs count", "WHERE ended.key = run.key", "WHERE false AND ended.key = run.key"],
      [
        "jobs of other names count",
        "own.name IN (job.lane, job.type, job.tenant, -2)",
        "own.name IS NOT NULL",
      ],
      ["the lane does not count", "(job.lane, job.type", "(job.type"],
      ["no job uses a service", "WHERE service = :gate::integer", "WHERE false"],
      [
        "the jobs of all workers count",
        "lease.worker = :worker::uuid",
        ":worker::uuid IS NOT NULL",
      ],
    ],
    ids_of_running: [
      ["ids of ended runs", "WHERE ended.key = run.key", "WHERE false AND ended.key = run.key"],
      [
        "ids of other names",
        "own.name IN (job.lane, job.type, job.tenant, -2)",
        "own.name IS NOT NULL",
      ],
      ["ids of all workers", "lease.worker = :worker::uuid", ":worker::uuid IS NOT NULL"],
      ["the ids have no end", "LIMIT :limit::bigint", "LIMIT 2 * :limit::bigint"],
    ],
    "inspect/running.ts": [["a cut count is exact", "isExact: found <= rows", "isExact: true"]],
  },
  "countRunning beside a claim that has read the gates": {
    claims_under_way: [
      ["no claim is seen", "held.locktype = 'relation'", "held.locktype = 'tuple'"],
      ["claims on other tables are seen", "'millrace.gate'::regclass", "'millrace.meta'::regclass"],
    ],
  },
  "pause of the installation": {
    "functions/claim.sql": [
      ["a pause of all jobs holds none back", " OR -2 = ANY (asker.closed) THEN", " THEN"],
    ],
    "functions/claim-alone.sql": [
      ["a job runs alone in spite of it", " OR -2 = ANY (asker.closed) THEN", " THEN"],
    ],
    count_due: [["due jobs are not held", "alike.tenant, -2)", "alike.tenant)"]],
    count_behind_gate: [
      [
        "no job is behind it",
        "own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)",
        "own.name IN (waiting.lane, waiting.type, waiting.tenant)",
      ],
      [
        "it shares no job",
        "other.name IN (waiting.lane, waiting.type, waiting.tenant, -2)",
        "other.name IN (waiting.lane, waiting.type, waiting.tenant)",
      ],
    ],
  },
};
