/** Installations whose stores run as a login role that may only call the routines. */
import { Client } from "pg";
import { makePostgresStore } from "../../src/store/postgres/create.ts";

/** The member of the role of the engine. */
export const ENGINE_LOGIN = "engine_login";

/** Which role the stores of a test run as: `MILLRACE_TEST_ROLE=engine`, or else the owner. */
export function runsAsEngine(): boolean {
  return process.env["MILLRACE_TEST_ROLE"] === "engine";
}

/** The same address for another user. */
export function urlAs(url: string, user: string): string {
  const found = new URL(url);
  found.username = user;
  return found.href;
}

/** Installs a schema with its roles, as a superuser, and makes a login role of its engine. */
export async function installForEngine(url: string, schema: string): Promise<void> {
  await makeRoles(url, schema);
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    // Roles belong to the server, and tests of one server may do this at the same time.
    await admin.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(1);
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${ENGINE_LOGIN}') THEN
        CREATE ROLE ${ENGINE_LOGIN} LOGIN;
      END IF;
      GRANT "${schema}_engine" TO ${ENGINE_LOGIN};
    END $$`);
  } finally {
    await admin.end();
  }
}

/** What `millrace migrate` and `millrace migrate --roles` do. */
export async function makeRoles(url: string, schema: string): Promise<void> {
  const store = makePostgresStore({ url, schema });
  await store.open();
  try {
    await store.runSql((await store.roleStatements()).join(";\n"));
  } finally {
    await store.close();
  }
}
