/** Databases for the suites of the SQL surface: each scene is a fresh copy of a migrated one. */
import type { Client } from "pg";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { ENGINE_LOGIN, makeRoles as makeRolesAt, urlAs } from "../../support/engine-role.ts";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";

export interface Surface extends AsyncDisposable {
  readonly server: PostgresServer;
  /** A fresh installation. */
  open(): Promise<Scene>;
}

export interface Scene extends AsyncDisposable {
  readonly url: string;
  /** The superuser who owns the installation. */
  readonly owner: Client;
  /** Another session of this login role, which is made if it is missing. */
  as(role: string, memberOf?: string): Promise<Client>;
  /** Rows of the owner's session. */
  rows(text: string, values?: readonly unknown[]): Promise<any[]>;
}

export async function openSurface(): Promise<Surface> {
  const server = await startPostgres({ durable: false });
  const admin = await connect(server.url);
  await admin.query("CREATE DATABASE model");
  const store = makePostgresStore({ url: urlOf(server, "model"), schema: "millrace" });
  await store.open();
  await store.close();
  let count = 0;
  return {
    server,
    async open() {
      count += 1;
      const name = `scene_${count}`;
      await admin.query(`CREATE DATABASE ${name} TEMPLATE model`);
      return openScene(admin, urlOf(server, name));
    },
    async [Symbol.asyncDispose]() {
      await admin.end();
      await server[Symbol.asyncDispose]();
    },
  };
}

function urlOf({ url }: PostgresServer, database: string, role = "postgres"): string {
  return url.replace("postgres@", `${role}@`).replace(/postgres$/, database);
}

async function openScene(admin: Client, url: string): Promise<Scene> {
  const sessions: Client[] = [];
  const session = async (at: string): Promise<Client> => {
    const client = await connect(at);
    sessions.push(client);
    return client;
  };
  const owner = await session(url);
  return {
    url,
    owner,
    async as(role, memberOf) {
      const { rows } = await admin.query("SELECT FROM pg_roles WHERE rolname = $1", [role]);
      if (rows.length === 0) await admin.query(`CREATE ROLE ${role} LOGIN`);
      if (memberOf !== undefined) await admin.query(`GRANT ${memberOf} TO ${role}`);
      return session(url.replace("postgres@", `${role}@`));
    },
    rows: async (text, values) => (await owner.query(text, values?.slice())).rows,
    async [Symbol.asyncDispose]() {
      for (const client of sessions) await client.end();
    },
  };
}

/** The SQLSTATE with which a statement is refused; null: it succeeds. */
export async function refusalOf(statement: Promise<unknown>): Promise<string | null> {
  try {
    await statement;
    return null;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** Makes the roles of the installation, as `millrace migrate --roles` does. */
export async function makeRoles({ owner }: Scene): Promise<void> {
  const { rows } = await owner.query(
    "SELECT statement FROM millrace.role_statements() AS statement",
  );
  for (const { statement } of rows) await owner.query(statement);
}

/** The same with the routines of the engine, and an address for a member of its role. */
export async function makeEngine({ url, owner }: Scene): Promise<string> {
  await makeRolesAt(url, "millrace");
  const { rows } = await owner.query("SELECT FROM pg_roles WHERE rolname = $1", [ENGINE_LOGIN]);
  if (rows.length === 0) await owner.query(`CREATE ROLE ${ENGINE_LOGIN} LOGIN`);
  await owner.query(`GRANT millrace_engine TO ${ENGINE_LOGIN}`);
  return urlAs(url, ENGINE_LOGIN);
}

/** Lets the lease of a task that was taken from SQL expire. */
export async function expire({ owner }: Scene, task: unknown): Promise<void> {
  await owner.query(
    `UPDATE millrace.worker SET until = now() - interval '1 second'
     WHERE id IN (SELECT worker FROM millrace.lease WHERE $1::bigint = ANY (keys))`,
    [task],
  );
}

/** Enqueues a job of the declared type `a`. */
export async function enqueued({ owner }: Scene, options = "'{}'"): Promise<string> {
  const { rows } = await owner.query(`SELECT millrace.enqueue('a', ${options}) AS id`);
  return rows[0].id;
}

export const DEQUEUE = "SELECT * FROM millrace.dequeue_next_available_task()";
