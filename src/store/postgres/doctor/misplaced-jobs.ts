/**
 * Jobs that are where no verb puts them. What others write into the tables, or leave out when they
 * restore a part of a backup, may make jobs that nobody runs, or that run twice.
 */
import type { ServerFinding } from "./examine.ts";
import type { Session } from "../database/session.ts";
import { quoted, type Sql } from "../database/statements.ts";

/** Findings of one kind; what is found beyond that is found after these are mended. */
const FINDINGS_MAX = 20;
const LIMIT = { limit: FINDINGS_MAX };

/** All as of one moment. */
export async function misplacedJobs(session: Session): Promise<ServerFinding[]> {
  const { schema } = session;
  return session.snapshot(async (sql) => [
    ...(await lostJobs(sql)),
    ...(await ownerlessLeases(sql, schema)),
    ...(await placesWithoutJob(sql, schema)),
    ...(await placesAgainstLedger(sql, schema)),
  ]);
}

async function lostJobs(sql: Sql): Promise<ServerFinding[]> {
  const rows = await sql.all("lost_jobs", LIMIT);
  return rows.map(({ id }) => ({
    name: "lost job",
    found: `${id} is not final, has no place, and no worker holds it`,
    fix: `millrace jobs release ${id}`,
  }));
}

async function ownerlessLeases(sql: Sql, schema: string): Promise<ServerFinding[]> {
  const rows = await sql.all("ownerless_leases", LIMIT);
  return rows.map(({ number, worker, id }) => {
    const whose = `the lease ${number} belongs to the worker ${worker}, which does not exist`;
    const name = "lease without worker";
    if (id === null) {
      const fix = `DELETE FROM ${quoted(schema)}.lease WHERE number = ${number};`;
      return { name, found: `${whose}; it holds no job`, fix };
    }
    const found = `${whose}; it holds the job ${id}, which no worker can rescue`;
    return { name, found, fix: `millrace jobs release ${id}` };
  });
}

async function placesWithoutJob(sql: Sql, schema: string): Promise<ServerFinding[]> {
  const rows = await sql.all("places_without_job", LIMIT);
  return rows.map(({ place, key }) => ({
    name: "place without job",
    found: `${place} has the key ${key}, and no job has this key`,
    fix: `DELETE FROM ${quoted(schema)}.${place} WHERE key = ${key};`,
  }));
}

async function placesAgainstLedger(sql: Sql, schema: string): Promise<ServerFinding[]> {
  const rows = await sql.all("places_against_ledger", LIMIT);
  return rows.map(({ place, key, id, next_n: nextN, ...faults }) => {
    const why = whyNot(faults);
    const table = `${quoted(schema)}.${place}`;
    return {
      name: "place against ledger",
      found: `${id} is in ${place}, ${why ?? WRONG_NUMBER}`,
      fix:
        why === null
          ? `UPDATE ${table} SET n = ${nextN} WHERE key = ${key};`
          : `DELETE FROM ${table} WHERE key = ${key};`,
    };
  });
}

const WRONG_NUMBER =
  "with a run number that the ledger does not expect: its result would be refused";

/** Why a job must not be in its place; null when only its run number is wrong. */
function whyNot(faults: { is_over: boolean; is_held: boolean; is_twin: boolean }): string | null {
  if (faults.is_over) return "although it is final: it would run again";
  if (faults.is_held) return "although a worker runs it: it would run twice";
  return faults.is_twin ? "and in another place as well: it would run twice" : null;
}
