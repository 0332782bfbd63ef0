/** Faults that harm one of several: jobs of a lease or an event, leases of a worker. */
import type { Faults } from "./all.ts";

export const SQLITE_CROWD_FAULTS: Faults = {
  startPrefetched: {
    "runs/prefetch.ts": [
      [
        "every second job is forgotten",
        ".filter((key) => !ended.has(key)) };",
        ".filter((key, index) => index % 2 === 0 && !ended.has(key)) };",
      ],
    ],
  },
  returnPrefetched: {
    "runs/prefetch.ts": [
      [
        "what goes back is charged",
        "putBack(session, job);",
        "putBack(session, { ...job, tries: job.tries + 1 });",
      ],
      [
        "what goes back has crashed",
        "putBack(session, job);",
        "putBack(session, { ...job, crashes: job.crashes + 1 });",
      ],
    ],
  },
  feed: {
    "events/outbox.ts": [
      [
        "every second job of an event is forgotten",
        "JSON.stringify(jobs)",
        "JSON.stringify(jobs.filter((_, index) => index % 2 === 0))",
      ],
    ],
  },
};

export const POSTGRES_CROWD_FAULTS: Faults = {
  renew: {
    renew_worker: [
      [
        "every second lease is forgotten",
        "WHERE lease.worker = :id::uuid\n",
        "WHERE lease.worker = :id::uuid AND lease.number % 2 = 0\n",
      ],
    ],
  },
  startPrefetched: {
    "functions/start.sql": [
      [
        "every second job is forgotten",
        "FILTER (WHERE run.has_started OR NOT run.is_asked)",
        "FILTER (WHERE run.turn % 2 = 1 AND (run.has_started OR NOT run.is_asked))",
      ],
    ],
  },
  returnPrefetched: {
    put_back: [
      ["what goes back is charged", "job.n, job.tries,", "job.n, job.tries + 1,"],
      ["what goes back has crashed", "job.crashes, job.concurrency", "9, job.concurrency"],
    ],
  },
  feed: {
    "events/outbox.ts": [
      [
        "every second job of an event is forgotten",
        "...jobsOf(jobs), ",
        "...jobsOf(jobs.filter((_, index) => index % 2 === 0)), ",
      ],
    ],
  },
};
