/** What can go wrong with bulk operations. */
import type { Faults } from "../all.ts";

const SHARED_FAULTS: Faults = {
  startOperation: {
    count_open_operations: [
      ["operations that have ended count", "status <= 2", "status > 0"],
      ["those of other tenants count", "status <= 2 AND", "status <= 2 OR"],
    ],
  },
  stopOperation: {
    stop_operation: [["an operation that has ended is stopped", "status <= 2", "status > 0"]],
  },
  failOperation: {
    fail_operation: [["any runner ends it", "AND runner = ", "AND '' <> "]],
  },
};

export const SQLITE_OPERATION_FAULTS: Faults = {
  ...SHARED_FAULTS,
  claimOperations: {
    claimable_operations: [
      ["another runner gets it at once", "lease_until <= :now", "lease_until > 0"],
      [
        "the newest ones run",
        "ORDER BY next_at, id\n    LIMIT",
        "ORDER BY next_at DESC\n    LIMIT",
      ],
      ["the oldest ones run", "ORDER BY next_at, id\n    LIMIT", "ORDER BY created_at\n    LIMIT"],
    ],
    hold_operations: [["the lease is endless", "+ :lease_ms", "+ 9000000000"]],
  },
  applyChunk: {
    "operations/operations.ts": [
      ["any chunk is applied", "|| !isNextChunk(row, chunk)", ""],
      ["the runner decides nothing", "items.filter(isUndecided)", "items"],
    ],
    advance_operation: [
      ["the last chunk ends nothing", "status = iif(:is_last, 3, status)", "status = status"],
      ["no rate", "next_at = max(next_at, :now - 1000) + :cost_ms", "next_at = next_at"],
    ],
  },
  "a chunk": {
    "operations/effects.ts": [
      ["a job that must be kept is told as deleted", 'skipped(id, "kept")', "done(id)"],
    ],
    set_priority_of_ready: [["the priority stays", "= :priority", "= priority"]],
    other_successors: [
      ["failed successors count", "ended.state = 6", "ended.state = -6"],
      ["successors of successors do not count", "line.depth < :depth", "line.depth < 1"],
    ],
  },
  operation: { find_operation: [["any operation is found", "WHERE id = :id", "WHERE id <> :id"]] },
  operations: {
    list_operations: [["those of all tenants", "OR tenant = :tenant", "OR tenant IS NOT :tenant"]],
  },
  operationItems: {
    list_operation_items: [["the first page again", "n > :after", "n > 0 * :after"]],
  },
  setPriority: {
    set_priority_of_scheduled: [["the priority stays", "= :priority", "= priority"]],
    set_priority_of_blocked: [["the priority stays", "= :priority", "= priority"]],
  },
  reschedule: {
    "jobs/reschedule.ts": [
      ["a dependant does not wait", "if (setDue(session, key, runAt))", "if (runAt < 0)"],
    ],
  },
};

export const POSTGRES_OPERATION_FAULTS: Faults = {
  ...SHARED_FAULTS,
  claimOperations: {
    claimable_operations: [
      [
        "the newest ones run",
        "ORDER BY next_at, id\n    LIMIT",
        "ORDER BY next_at DESC\n    LIMIT",
      ],
      ["the oldest ones run", "ORDER BY next_at, id\n    LIMIT", "ORDER BY created_at\n    LIMIT"],
    ],
    hold_operations: [["the lease is endless", ":lease_ms::bigint", "(:lease_ms::bigint + 9e9)"]],
  },
  applyChunk: {
    "operations/operations.ts": [
      ["any chunk is applied", "|| !isNextChunk(row, chunk)", ""],
      [
        "two chunks at the same time",
        'await transaction.run("lock_operation"',
        'void ("lock_operation"',
      ],
      ["the runner decides nothing", "items.filter(isUndecided)", "items"],
    ],
    advance_operation: [
      ["the last chunk ends nothing", "THEN 3 ELSE status END", "THEN status ELSE status END"],
      ["no rate", "next_at = paid.until", "next_at = next_at"],
    ],
  },
  "a chunk": {
    "operations/effects.ts": [
      ["a job that must be kept is told as deleted", 'skipped(id, "kept")', "done(id)"],
    ],
    other_successors: [["failed successors count", "ended.state = 6", "ended.state = -6"]],
  },
  operation: {
    find_operation: [["any operation is found", "WHERE id = :id::uuid", "WHERE id <> :id::uuid"]],
  },
  operations: {
    list_operations: [
      [
        "those of all tenants",
        "OR tenant = :tenant::text",
        "OR tenant IS DISTINCT FROM :tenant::text",
      ],
    ],
  },
  operationItems: {
    list_operation_items: [
      ["the first page again", "n > :after::bigint", "n > 0 * :after::bigint"],
    ],
  },
  setPriority: {
    set_priorities: [
      [
        "held jobs keep theirs",
        "UPDATE millrace.blocked AS place\n    SET priority = :priority::integer",
        "UPDATE millrace.blocked AS place\n    SET priority = place.priority",
      ],
    ],
  },
  reschedule: {
    "jobs/reschedule.ts": [
      ["a job stays where it is", "{ due_at: Math.round(Math.max(0, due.at)) }", "{ delay_ms: 0 }"],
    ],
  },
};
