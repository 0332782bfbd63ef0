/**
 * The libraries whose transactions `{ tx }` takes, each as an application uses it. They are loaded
 * by name, because they have no types before they are installed.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { fromDrizzle } from "millrace/postgres";

/** A library that is connected to one database. */
export interface Connected extends AsyncDisposable {
  /** Commits when `work` has ended, and rolls back when it throws. */
  transaction(work: (tx: any) => Promise<void>): Promise<void>;
  /** Runs a statement without parameters, in a transaction. */
  query(tx: any, text: string): Promise<readonly any[]>;
  /** What it does in the end when a statement has failed, although its caller caught the error. */
  readonly afterAnError?: "rolled back";
  /** What is easily taken for a transaction, and is none. */
  readonly noTransactions: readonly any[];
  /** What goes into `{ tx }`, where it is not the transaction itself. */
  wrap?(tx: any): any;
}

/** Where they are installed: a package of its own. */
const LIBRARIES_FOLDER = join(import.meta.dirname, "libraries");

export type Connect = (url: string) => Promise<Connected>;

const require = createRequire(join(LIBRARIES_FOLDER, "package.json"));

export function load(name: string): any {
  return require(name);
}

async function pg(url: string): Promise<Connected> {
  const { Pool } = load("pg");
  const pool = new Pool({ connectionString: url });
  const idle = await pool.connect();
  return {
    noTransactions: [pool, idle],
    query: async (tx, text) => (await tx.query(text)).rows,
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        await work(client);
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    async [Symbol.asyncDispose]() {
      idle.release();
      await pool.end();
    },
  };
}

async function postgresJs(url: string): Promise<Connected> {
  const sql = load("postgres")(url, { onnotice: () => {} });
  return {
    noTransactions: [sql],
    afterAnError: "rolled back",
    query: async (tx, text) => tx.unsafe(text),
    transaction: (work) => sql.begin(work),
    [Symbol.asyncDispose]: () => sql.end(),
  };
}

async function kysely(url: string): Promise<Connected> {
  const { Kysely, PostgresDialect, CompiledQuery, CamelCasePlugin } = load("kysely");
  const pool = new (load("pg").Pool)({ connectionString: url });
  const dialect = new PostgresDialect({ pool });
  const db = new Kysely({ dialect, plugins: [new CamelCasePlugin()] });
  return {
    noTransactions: [db],
    query: async (tx, text) => (await tx.executeQuery(CompiledQuery.raw(text))).rows,
    transaction: (work) => db.transaction().execute(work),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}

async function knex(url: string): Promise<Connected> {
  const db = load("knex")({ client: "pg", connection: url });
  return {
    noTransactions: [db],
    query: async (tx, text) => (await tx.raw(text.replaceAll("?", String.raw`\?`))).rows,
    transaction: (work) => db.transaction(work),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}

/** With the runtime as `prisma generate` would set it up for a schema without models. */
async function prisma(url: string): Promise<Connected> {
  const { getPrismaClient } = load("@prisma/client/runtime/client");
  const { PrismaPg } = load("@prisma/adapter-pg");
  const compiler = "@prisma/client/runtime/query_compiler_fast_bg.postgresql";
  const PrismaClient = getPrismaClient({
    previewFeatures: [],
    clientVersion: load("@prisma/client/package.json").version,
    engineVersion: "",
    activeProvider: "postgresql",
    inlineSchema: 'datasource db { provider = "postgresql" }',
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: "AAAAAAAA" },
    compilerWasm: {
      importName: "./query_compiler_fast_bg.js",
      getRuntime: async () => load(`${compiler}.js`),
      getQueryCompilerWasmModule: async () => {
        const { wasm } = load(`${compiler}.wasm-base64.js`);
        // The types of this project know no browser, and so no WebAssembly.
        const { compile } = Reflect.get(globalThis, "WebAssembly");
        return compile(Buffer.from(wasm, "base64"));
      },
    },
  });
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  return {
    noTransactions: [client],
    query: (tx, text) => tx.$queryRawUnsafe(text),
    transaction: (work) => client.$transaction(work),
    [Symbol.asyncDispose]: () => client.$disconnect(),
  };
}

async function dataSource(url: string): Promise<any> {
  load("reflect-metadata");
  const { DataSource } = load("typeorm");
  return new DataSource({ type: "postgres", url }).initialize();
}

async function typeOrmManager(url: string): Promise<Connected> {
  const source = await dataSource(url);
  return {
    noTransactions: [source, source.manager],
    query: (tx, text) => tx.query(text),
    transaction: (work) => source.transaction(work),
    [Symbol.asyncDispose]: () => source.destroy(),
  };
}

async function typeOrmRunner(url: string): Promise<Connected> {
  const source = await dataSource(url);
  const idle = source.createQueryRunner();
  return {
    noTransactions: [idle],
    query: (tx, text) => tx.query(text),
    async transaction(work) {
      const runner = source.createQueryRunner();
      try {
        await runner.startTransaction();
        await work(runner);
        await runner.commitTransaction();
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    },
    [Symbol.asyncDispose]: () => source.destroy(),
  };
}

function drizzleOn(db: any, end: () => Promise<void>): Connected {
  const { sql } = load("drizzle-orm");
  return {
    noTransactions: [],
    wrap: (tx) => fromDrizzle(tx, sql),
    async query(tx, text) {
      const received = await tx.execute(sql.raw(text));
      return received.rows ?? received;
    },
    transaction: (work) => db.transaction(work),
    [Symbol.asyncDispose]: end,
  };
}

async function drizzlePg(url: string): Promise<Connected> {
  const pool = new (load("pg").Pool)({ connectionString: url });
  return drizzleOn(load("drizzle-orm/node-postgres").drizzle(pool), () => pool.end());
}

async function drizzlePostgresJs(url: string): Promise<Connected> {
  const client = load("postgres")(url, { onnotice: () => {} });
  const connected = drizzleOn(load("drizzle-orm/postgres-js").drizzle(client), () => client.end());
  return { ...connected, afterAnError: "rolled back" };
}

export const LIBRARIES: readonly { readonly name: string; readonly connect: Connect }[] = [
  { name: "pg", connect: pg },
  { name: "postgres.js", connect: postgresJs },
  { name: "Kysely", connect: kysely },
  { name: "Knex", connect: knex },
  { name: "Prisma", connect: prisma },
  { name: "TypeORM, by its entity manager", connect: typeOrmManager },
  { name: "TypeORM, by its query runner", connect: typeOrmRunner },
  { name: "Drizzle on pg", connect: drizzlePg },
  { name: "Drizzle on postgres.js", connect: drizzlePostgresJs },
];
