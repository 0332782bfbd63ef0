/**
 * Finds jobs in a place where no verb puts them. Writing to the tables by hand or restoring a part
 * of a backup can leave jobs that never run or that run twice.
 */
import { NO_BOUNDS, type Extent } from "../../doctor/bounds.ts";
import type { UnfinishedChecks } from "../../doctor/unfinished.ts";
import type { ServerFinding } from "./examine.ts";
import type { Session } from "../database/session.ts";
import { quoted, type Sql } from "../database/statements.ts";

/** Findings of one kind. Further ones are found after these are fixed. */
const FINDINGS_MAX = 20;
const LIMIT = { limit: FINDINGS_MAX };

export async function misplacedJobs(
  session: Session,
  extent: Extent,
  checks: UnfinishedChecks,
): Promise<ServerFinding[]> {
  const { schema } = session;
  const isBounded = extent.examined < NO_BOUNDS.rows;
  const check = (
    name: string,
    find: (sql: Sql) => Promise<ServerFinding[]>,
    prefersLookups = isBounded,
  ): Promise<ServerFinding[]> =>
    checks.run(name, [], () =>
      session.snapshot(async (sql) => {
        if (prefersLookups) await sql.get("prefer_lookups", {});
        return find(sql);
      }),
    );
  return [
    ...(await check("lost job", (sql) => lostJobs(sql, extent), false)),
    ...(await check("lease without worker", (sql) => ownerlessLeases(sql, schema))),
    ...(await check("start without lease", (sql) => strayStarts(sql, schema))),
    ...(await check("place without job", (sql) => placesWithoutJob(sql, schema, extent))),
    ...(await check("place against ledger", (sql) => placesAgainstAttempts(sql, schema, extent))),
  ];
}

async function lostJobs(sql: Sql, { lastKey }: Extent): Promise<ServerFinding[]> {
  const rows = await sql.all("lost_jobs", { last_key: lastKey, ...LIMIT });
  return rows.map(({ id }) => ({
    name: "lost job",
    found: `job ${id} is not final, is in no waiting place and has no lease`,
    fix: `millrace jobs release ${id}`,
    repair: { kind: "release", ids: [id] },
  }));
}

async function ownerlessLeases(sql: Sql, schema: string): Promise<ServerFinding[]> {
  const rows = await sql.all("ownerless_leases", LIMIT);
  return rows.map(({ number, worker, id }) => {
    const whose = `lease ${number} belongs to worker ${worker}, which is not registered`;
    const name = "lease without worker";
    if (id === null) {
      const fix =
        `DELETE FROM ${quoted(schema)}.run_start WHERE lease = ${number}; ` +
        `DELETE FROM ${quoted(schema)}.lease WHERE number = ${number};`;
      const repair = { kind: "sql", sql: fix } as const;
      return { name, found: `${whose}; the lease has no open run`, fix, repair };
    }
    const found = `${whose}; job ${id} stays running and is never rescued`;
    const repair = { kind: "release", ids: [id] } as const;
    return { name, found, fix: `millrace jobs release ${id}`, repair };
  });
}

async function strayStarts(sql: Sql, schema: string): Promise<ServerFinding[]> {
  const { count = 0 } = (await sql.get("starts_without_lease", {})) ?? {};
  if (count === 0) return [];
  const fix =
    `DELETE FROM ${quoted(schema)}.run_start AS start WHERE NOT EXISTS (SELECT 1 FROM ` +
    `${quoted(schema)}.lease AS lease WHERE lease.number = start.lease AND start.key = ` +
    "ANY (lease.keys));";
  return [
    {
      name: "start without lease",
      found: `${count} starts of runs that no lease names: their rows would stay forever`,
      fix,
      repair: { kind: "sql", sql: fix },
    },
  ];
}

async function placesWithoutJob(
  sql: Sql,
  schema: string,
  { examined }: Extent,
): Promise<ServerFinding[]> {
  const rows = await sql.all("places_without_job", { examined, ...LIMIT });
  return rows.map(({ place, key }) => {
    const fix = `DELETE FROM ${quoted(schema)}.${place} WHERE key = ${key};`;
    return {
      name: "place without job",
      found: `key ${key} is in ${place}, but no job has this key`,
      fix,
      repair: { kind: "sql", sql: fix },
    };
  });
}

async function placesAgainstAttempts(
  sql: Sql,
  schema: string,
  { examined }: Extent,
): Promise<ServerFinding[]> {
  const rows = await sql.all("places_against_ledger", { examined, ...LIMIT });
  return rows.map(({ place, key, id, next_n: nextN, ...faults }) => {
    const why = misplacement(faults);
    const table = `${quoted(schema)}.${place}`;
    const fix =
      why === null
        ? `UPDATE ${table} SET n = ${nextN} WHERE key = ${key};`
        : `DELETE FROM ${table} WHERE key = ${key};`;
    return {
      name: "place against ledger",
      found: `job ${id} is in ${place} ${why ?? WRONG_NUMBER}`,
      fix,
      repair: { kind: "sql", sql: fix },
    };
  });
}

const WRONG_NUMBER = "under a wrong run number: its end would be refused";

/** Why the job must not be in its place. Null: only its run number is wrong. */
function misplacement(faults: {
  is_over: boolean;
  is_held: boolean;
  is_twin: boolean;
}): string | null {
  if (faults.is_over) return "although it is final: it would run again";
  if (faults.is_held) return "although it is running: it would run twice";
  return faults.is_twin ? "and in another place as well: it would run twice" : null;
}
