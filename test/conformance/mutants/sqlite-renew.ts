/** What can go wrong with the heartbeat and the clock in the store on SQLite. */
import type { Faults } from "./all.ts";

export const SQLITE_RENEW_FAULTS: Faults = {
  settle: {
    "runs/attempts.ts": [
      [
        "a run ends before its start",
        "started_at: notAfterEnd(startedAt)",
        "started_at: startedAt",
      ],
    ],
  },
  time: {
    "runs/workers.ts": [
      ["the store has a clock of its own", "return clock.now();", "return Date.now();"],
    ],
  },
  stopWorker: {
    stop_worker: [
      ["every worker is asked to stop", "id = :id", "1"],
      ["a stopping worker gets jobs", "SET quiet = 1, stopping = 1", "SET quiet = quiet"],
      ["a worker is only asked to be quiet", ", stopping = 1", ""],
    ],
    quiet_worker: [["a quiet worker is asked to stop", "quiet = 1", "quiet = 1, stopping = 1"]],
    renew_worker: [["no renewal reports the request", "stopping,", "0 AS stopping,"]],
    list_workers: [
      ["the list does not show the request", "quiet, stopping\nFROM", "quiet, 0 AS stopping\nFROM"],
    ],
  },
  renew: {
    renew_worker: [
      ["a heartbeat does not extend the lease", "until = :until", "until = until"],
      ["an old protocol is never too old", "protocol <", "0 >"],
      ["the memory is not stored", "coalesce(:memory_bytes, memory_bytes)", "NULL"],
      ["a delay that is not known is lost", "coalesce(:loop_lag_ms, loop_lag_ms)", ":loop_lag_ms"],
    ],
    leases_of_worker: [["every worker hears every request", "worker = :worker", "1"]],
    "runs/workers.ts": [
      [
        "the requests of every second lease are forgotten",
        ".flatMap(runsOf)",
        ".filter((_, index) => index % 2 === 0).flatMap(runsOf)",
      ],
      [
        "the requests of the first two leases are told",
        ".flatMap(runsOf)",
        ".slice(0, 2).flatMap(runsOf)",
      ],
      [
        "the requests of every second job of a lease are forgotten",
        ".flatMap(runsOf)",
        ".flatMap((lease) => runsOf(lease).filter((_, index) => index % 2 === 0))",
      ],
    ],
    insert_ended_runs: [["an end is not stored for the worker", "WHERE", "WHERE 0 AND"]],
    "jobs/intervene.ts": [
      [
        "the end of an unstarted run is not told",
        "{ key, n }: HeldRun, lease: LeaseRow): void {\n",
        "{ key, n, startedAt }: HeldRun, lease: LeaseRow): void {\n  if (startedAt !== null)",
      ],
    ],
    delete_ended_runs: [["the ended runs of a removed worker stay", "WHERE", "WHERE 0 AND"]],
    ended_runs: [
      ["no worker learns what has ended", "WHERE", "WHERE 0 AND"],
      ["every worker learns what has ended", "worker = :worker", "1"],
    ],
    find_cancel_requests: [["reasons are lost", "asked.reason", "NULL AS reason"]],
    last_runs: [
      ["the former holder hears the request", "max(attempt.n)", "0"],
      ["the first run counts, not the last", "max(attempt.n)", "min(attempt.n)"],
    ],
  },
};
