/** What can go wrong when a newer release has raised the least protocol of a store. */
import type { Faults } from "./all.ts";

export const SQLITE_PROTOCOL_FAULTS: Faults = {
  "a store that requires a newer protocol": {
    "jobs/intakes.ts": [
      ["an old producer enqueues jobs", "  requireProtocol(protocol", "  Object(protocol"],
    ],
    "database/migrate.ts": [
      ["an old release opens the store", "    requireProtocol(leastProtocol(database));\n", ""],
    ],
  },
};

export const POSTGRES_PROTOCOL_FAULTS: Faults = {
  "a store that requires a newer protocol": {
    "functions/enqueue.sql": [
      ["an old producer enqueues jobs", "IF least > protocol THEN", "IF false THEN"],
    ],
    "jobs/enqueue.ts": [
      [
        "an old producer enqueues jobs with keys",
        "insertBisecting({ ...transaction, isProducer: true, overQuota }, jobs, NONE)",
        "insertBisecting({ ...transaction, overQuota }, jobs, NONE)",
      ],
    ],
    "database/migrate.ts": [
      ["an old release opens the store", "requireProtocol(Number(rows[0]?.value));", ""],
    ],
  },
};
