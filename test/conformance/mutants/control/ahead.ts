/** What can go wrong with the count of the jobs in front of a job. */
import type { Faults } from "../all.ts";

const BEFORE = "(ready.priority, ready.rank, ready.key) < (own.priority, own.rank, own.key)";

export const SQLITE_AHEAD_FAULTS: Faults = {
  countAhead: {
    count_ahead: [
      [
        "all jobs of the lane are in front",
        "AND (priority, rank, key) < (:priority, :rank, :key)",
        "",
      ],
      [
        "the order of crashed jobs is not looked at",
        "SELECT (priority, rank, key) < (:priority, :rank, :key)",
        "SELECT 1",
      ],
      ["other lanes count", "lane = :lane\n", "1\n"],
      ["crashed jobs do not count", "AND crashes > 0", "AND 0"],
      ["gates are not looked at", "WHERE closed.name IN", "WHERE 0 AND closed.name IN"],
      ["types of closed services count", "front.type, front.tenant, -2", "front.tenant, -2"],
      ["pauses of a tenant are not looked at", "front.type) NOT IN (", "-1) NOT IN ("],
      ["taken keys count", "lock.name = front.concurrency", "0"],
      ["keys of all tenants are one", "lock.tenant = front.tenant AND", ""],
      ["the tenant is not looked at", ":tenant IS NULL", "1"],
      ["a cut count is exact", "< :rows AS exact", ">= 0 AS exact"],
    ],
  },
};

export const POSTGRES_AHEAD_FAULTS: Faults = {
  countAhead: {
    count_ahead: [
      ["all jobs of the lane are in front", `AND ${BEFORE}`, ""],
      ["the order of crashed jobs is not looked at", `SELECT ${BEFORE}`, "SELECT true"],
      ["other lanes count", "ready.lane = own.lane\n", "true\n"],
      ["crashed jobs do not count", "AND ready.crashes > 0", "AND false"],
      ["gates are not looked at", "WHERE closed.name IN", "WHERE false AND closed.name IN"],
      ["types of closed services count", "front.type, front.tenant, -2", "front.tenant, -2"],
      ["pauses of a tenant are not looked at", "front.type) NOT IN (", "-1) NOT IN ("],
      ["taken keys count", "lock.name = front.concurrency", "false"],
      ["keys of all tenants are one", "lock.tenant = front.tenant AND", ""],
      ["the tenant is not looked at", ":tenant::integer IS NULL", "true"],
      ["a cut count is exact", "< :rows::bigint AS exact", ">= 0 AS exact"],
    ],
  },
};
