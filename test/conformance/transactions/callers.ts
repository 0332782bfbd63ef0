/** Transactions that an application has open itself, for the verb that writes inside them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import type { makeSqliteStore, SqlitePorts } from "../../../src/store/sqlite/create.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { ENGINE_LOGIN, runsAsEngine, urlAs } from "../../support/engine-role.ts";
import type { PostgresTestStore } from "../../support/stores.ts";

interface CallersTransaction {
  readonly tx: unknown;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A store, and a caller who writes to the same database. */
interface CallersStore extends AsyncDisposable {
  readonly store: JobStore;
  begin(): Promise<CallersTransaction>;
  /** One on another database, where the same tables are. */
  beginElsewhere(): Promise<CallersTransaction>;
}

export type OpenCallers = () => Promise<CallersStore>;

/** A store in a file that others can open as well. */
interface FileStore extends AsyncDisposable {
  readonly store: ReturnType<typeof makeSqliteStore>;
  readonly path: string;
  /** A further handle, closed in the end. */
  connect(): DatabaseSync;
}

export async function openFile(
  make: typeof makeSqliteStore,
  ports: SqlitePorts = {},
): Promise<FileStore> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-file-"));
  const path = join(folder, "millrace.db");
  const store = make({ path }, ports);
  await store.open();
  const handles: DatabaseSync[] = [];
  return {
    store,
    path,
    connect() {
      const handle = new DatabaseSync(path);
      handles.push(handle);
      return handle;
    },
    async [Symbol.asyncDispose]() {
      for (const handle of handles) handle.close();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

export function sqliteCallers(make: typeof makeSqliteStore): OpenCallers {
  return async () => {
    const home = await openFile(make);
    const other = await openFile(make);
    return {
      store: home.store,
      begin: async () => beginOn(home.connect()),
      beginElsewhere: async () => beginOn(other.connect()),
      async [Symbol.asyncDispose]() {
        await home[Symbol.asyncDispose]();
        await other[Symbol.asyncDispose]();
      },
    };
  };
}

function beginOn(tx: DatabaseSync): CallersTransaction {
  tx.exec("BEGIN IMMEDIATE");
  return {
    tx,
    commit: async () => tx.exec("COMMIT"),
    rollback: async () => tx.exec("ROLLBACK"),
  };
}

export function postgresCallers(open: () => Promise<PostgresTestStore>): OpenCallers {
  return async () => {
    const { store, pool, schema, ...db } = await open();
    const owners = pool.options.connectionString ?? "";
    const url = new URL(runsAsEngine() ? urlAs(owners, ENGINE_LOGIN) : owners);
    const elsewhere = new URL(owners);
    elsewhere.pathname = `/elsewhere_${schema}`;
    const clients: Client[] = [];

    async function begin({ href }: URL): Promise<CallersTransaction> {
      const tx = new Client({ connectionString: href });
      await tx.connect();
      clients.push(tx);
      await tx.query("BEGIN");
      return {
        tx,
        commit: async () => void (await tx.query("COMMIT")),
        rollback: async () => void (await tx.query("ROLLBACK")),
      };
    }

    return {
      store,
      begin: () => begin(url),
      async beginElsewhere() {
        await pool.query(`CREATE DATABASE "elsewhere_${schema}"`);
        const other = makePostgresStore({ url: elsewhere.href, schema });
        await other.open();
        await other.close();
        return begin(elsewhere);
      },
      async [Symbol.asyncDispose]() {
        await Promise.all(clients.map((client) => client.end()));
        await pool.query(`DROP DATABASE IF EXISTS "elsewhere_${schema}"`);
        await db[Symbol.asyncDispose]();
      },
    };
  };
}
