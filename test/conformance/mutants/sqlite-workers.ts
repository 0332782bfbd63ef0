/** What can go wrong with the list of workers and what operators ask of them. */
import type { Faults } from "./all.ts";

export const SQLITE_WORKER_FAULTS: Faults = {
  workers: {
    register_worker: [
      ["a worker says nothing of its types", ":types", "'[]'"],
      ["a worker says nothing of its lanes", ":lanes", "'[]'"],
      ["a worker says nothing of its slots", ":slots", "0"],
      ["a worker says nothing of its tenant", ":tenant", "NULL"],
      ["a worker that was asked to be quiet joins awake", ":quiet", "0"],
      [
        "a worker that joins again sends no heartbeat",
        "renewed_at = :now",
        "renewed_at = renewed_at",
      ],
    ],
    renew_worker: [["a renewal is no heartbeat", "renewed_at = :now", "renewed_at = renewed_at"]],
    list_workers: [
      ["the limit is dropped", "LIMIT :limit", ""],
      ["youngest first", "ORDER BY joined_at, id", "ORDER BY joined_at DESC, id DESC"],
    ],
  },
  resumeWorker: {
    resume_worker: [
      ["every worker is resumed", "id = :id", "1"],
      ["a worker that is to stop takes jobs", "AND stopping = 0", ""],
      ["no worker is resumed", "SET quiet = 0", "SET quiet = 1"],
    ],
    is_stopping: [
      ["a worker that is to stop is resumed", "SELECT stopping", "SELECT 0 AS stopping"],
    ],
  },
  quiet: {
    quiet_worker: [
      ["every worker is asked to take nothing", "id = :id", "1"],
      ["no worker is asked", "quiet = 1", "quiet = quiet"],
    ],
  },
};
