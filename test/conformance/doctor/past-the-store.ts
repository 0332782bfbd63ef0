/** Stores with a way past them: for rows that should not be there, and for missing ones. */
import type { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { PostgresTestStore } from "../../support/stores.ts";
import { virtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { openFile } from "../transactions/callers.ts";

export interface OpenedPast extends AsyncDisposable {
  readonly store: JobStore;
  readonly clock: VirtualClock;
  /** A further handle, as another process would have. */
  another(): Promise<JobStore>;
  /** A list of a lease as SQL. */
  list(...values: readonly (number | null)[]): string;
  /** A text that is no error, as SQL. */
  readonly badJson: string;
  /** Runs a statement in which `{name}` stands for the table of that name. */
  run(sql: string): Promise<void>;
  /** How many rows a table has. */
  count(table: string): Promise<number>;
  /** Drops every row that is written to a table, until what it answers is called. */
  deafen(table: string): Promise<() => Promise<void>>;
}

export type OpenPast = () => Promise<OpenedPast>;

export function pastSqlite(make: typeof makeSqliteStore): OpenPast {
  return async () => {
    const clock = virtualClock();
    const db = await openFile(make, { clock });
    const handle = db.connect();
    handle.exec("PRAGMA ignore_check_constraints = 1");
    const others: JobStore[] = [];
    const fill = (sql: string): string => sql.replaceAll(/\{(\w+)\}/g, "millrace_$1");
    const run = async (sql: string): Promise<void> => handle.exec(fill(sql));
    return {
      store: db.store,
      clock,
      async another() {
        const other = make({ path: db.path }, { clock });
        await other.open();
        others.push(other);
        return other;
      },
      list: (...values) => `'${JSON.stringify(values)}'`,
      badJson: "'{'",
      run,
      count: async (table) =>
        Number(handle.prepare(fill(`SELECT count(*) AS n FROM {${table}}`)).get()?.["n"]),
      async deafen(table) {
        await run(
          `CREATE TRIGGER deaf BEFORE INSERT ON {${table}} BEGIN SELECT RAISE(IGNORE); END`,
        );
        return () => run("DROP TRIGGER deaf");
      },
      async [Symbol.asyncDispose]() {
        for (const other of others) await other.close();
        await db[Symbol.asyncDispose]();
      },
    };
  };
}

export function pastPostgres(open: () => Promise<PostgresTestStore>): OpenPast {
  return async () => {
    const db = await open();
    const { pool, schema } = db;
    const fill = (sql: string): string => sql.replaceAll(/\{(\w+)\}/g, `"${schema}".$1`);
    const run = async (sql: string): Promise<void> => void (await pool.query(fill(sql)));
    return {
      store: db.store,
      clock: db.clock,
      another: () => db.another(),
      list: (...values) => `ARRAY[${values.map((value) => value ?? "NULL").join(", ")}]`,
      badJson: `'"{"'`,
      run,
      async count(table) {
        const { rows } = await pool.query(fill(`SELECT count(*)::int AS n FROM {${table}}`));
        return Number(rows[0]?.n);
      },
      async deafen(table) {
        await run(`CREATE FUNCTION {deaf}() RETURNS trigger LANGUAGE plpgsql
                   AS 'BEGIN RETURN NULL; END'`);
        await run(`CREATE TRIGGER deaf BEFORE INSERT ON {${table}}
                   FOR EACH ROW EXECUTE FUNCTION {deaf}()`);
        return () => run("DROP FUNCTION {deaf}() CASCADE");
      },
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    };
  };
}
