/** Installs Millrace and the schemas of the example into an empty database. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Client } from "pg";
import { connect } from "./queries.ts";

const SQL = fileURLToPath(new URL("../sql/", import.meta.url));
/** What `npx millrace` runs in a project of yours. */
const MILLRACE = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

export interface InstallOptions {
  /** The delay of the supervisors after no failure, such as `200 milliseconds`. */
  readonly firstDelay?: string;
  /** Failed attempts until a process is stuck. */
  readonly maxAttempts?: number;
}

/**
 * As a superuser: `millrace migrate --roles` makes the tables, roles and routines of Millrace; then
 * the SQL files of the example run in their order. What they make belongs to the owner of the
 * installation, so that functions with its rights have no more than these.
 */
export async function install(url: string, options: InstallOptions = {}): Promise<void> {
  // The databases of the tests share the roles of their server.
  const command = [MILLRACE, "migrate", "--roles", "--shared-roles", "--db", url];
  await promisify(execFile)(process.execPath, ["--conditions=source", ...command]);
  const client = await connect(url);
  try {
    const [roles = "", ...files] = readdirSync(SQL).toSorted();
    await client.query(readFileSync(`${SQL}${roles}`, "utf8"));
    await client.query("SET ROLE millrace_owner");
    for (const file of files) await client.query(readFileSync(`${SQL}${file}`, "utf8"));
    await setUp(client, options);
  } finally {
    await client.end();
  }
}

/** The URL of another user of the same database. */
export function urlAs(user: string, url: string): string {
  const changed = new URL(url);
  changed.username = user;
  return changed.href;
}

/** Replaces the two numbers of the supervisors. */
async function setUp(client: Client, { firstDelay, maxAttempts }: InstallOptions): Promise<void> {
  if (firstDelay !== undefined) {
    await client.query(`CREATE OR REPLACE FUNCTION queues.first_delay() RETURNS interval
      LANGUAGE sql IMMUTABLE RETURN interval ${client.escapeLiteral(firstDelay)}`);
  }
  if (maxAttempts !== undefined) {
    await client.query(`CREATE OR REPLACE FUNCTION queues.max_attempts() RETURNS integer
      LANGUAGE sql IMMUTABLE RETURN ${Math.trunc(maxAttempts)}`);
  }
}
