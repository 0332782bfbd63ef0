/** What can go wrong with the list of long runs. */
import type { Faults } from "../all.ts";

export const SQLITE_LONG_RUN_FAULTS: Faults = {
  "list of long runs": {
    keys_of_long_runs: [
      ["runs that have ended", "WHERE ended.key = claimed.value", "WHERE 0 AND ended.key"],
      [
        "the claim counts as the start",
        "lease.claimed_at + (lease.starts ->> claimed.key) <=",
        "lease.claimed_at <=",
      ],
      ["a page begins anew", "claimed.value < :before", ":before > 0"],
      ["the oldest job first", "ORDER BY claimed.value DESC", "ORDER BY claimed.value"],
    ],
    "inspect/list-sources.ts": [["another source is read", "    return sources;\n  }", "  }"]],
  },
};

export const POSTGRES_LONG_RUN_FAULTS: Faults = {
  "list of long runs": {
    keys_of_long_runs: [
      ["runs that have ended", "WHERE ended.key = run.key", "WHERE false AND ended.key = run.key"],
      [
        "the claim counts as the start",
        "AND coalesce(lease.started_at, (",
        "AND coalesce(lease.claimed_at, (",
      ],
      ["a page begins anew", "run.key < :before::bigint", ":before::bigint > 0"],
      ["the oldest job first", "ORDER BY run.key DESC", "ORDER BY run.key"],
    ],
    "inspect/list-sources.ts": [["another source is read", "    return sources;\n  }", "  }"]],
  },
};
