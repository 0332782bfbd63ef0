/**
 * Named queries: parameters by name in, rows out. A user who may not touch the tables calls their
 * routines instead (`../rights/routines.ts`).
 */
import { timeoutMs } from "./statement-timeouts.ts";
import { send, type PgClient, type Received } from "./pool.ts";
import { queries, type QueryParameters, type QueryRows, type QueryTuples } from "./queries.gen.ts";
import { types } from "./values.ts";

export type QueryName = keyof QueryParameters;
type ReadName = keyof QueryRows & QueryName;
type TupleName = keyof QueryTuples & QueryName;

/** Lists go as text (`list`, `uuids`), rows as JSON. `now` is filled in for every statement. */
type Value = string | number | boolean | null;
export type Bound<Name extends QueryName> = {
  readonly [Parameter in Exclude<QueryParameters[Name][number], "now">]: Value;
};

/** Runs named queries: in a transaction, or through the pool, one statement at a time. */
export interface Sql {
  /** Runs a statement for its effect. Answers how many rows it touched. */
  run<Name extends QueryName>(name: Name, parameters: Bound<Name>): Promise<number>;
  /** All rows of a query. */
  all<Name extends ReadName>(name: Name, parameters: Bound<Name>): Promise<QueryRows[Name][]>;
  /** The first row of a query, if there is one. */
  get<Name extends ReadName>(
    name: Name,
    parameters: Bound<Name>,
  ): Promise<QueryRows[Name] | undefined>;
  /** All rows of a hot query as arrays, which the driver makes faster than objects. */
  tuples<Name extends TupleName>(name: Name, parameters: Bound<Name>): Promise<QueryTuples[Name][]>;
}

/** What the user of the connections may use: the tables themselves, or the routines alone. */
export type SqlAccess = "tables" | "routines";

interface StatementOptions {
  readonly schema: string;
  readonly access: SqlAccess;
  /** The instant of a test's clock, or null for the server's clock. */
  readonly now: () => string | null;
}

interface ThroughOptions {
  /** How long each query may wait for a lock. */
  readonly lockMs?: number;
  /** Whether a query runs as the role of tenants, which may read tables and call no routine. */
  readonly isForTenant?: () => boolean;
}

const NEVER = (): boolean => false;

/** The queries of one installation, with the quoted name of its schema. */
export class Statements {
  readonly #texts: ReadonlyMap<string, string>;
  /** What is sent instead of the queries. Empty: the user may touch the tables. */
  readonly #calls: ReadonlyMap<string, string>;
  readonly #now: () => string | null;

  constructor({ schema, access, now }: StatementOptions) {
    this.#now = now;
    this.#texts = new Map(NAMES.map((name) => [name, inSchema(queries[name].text, schema)]));
    this.#calls = new Map(access === "tables" ? [] : callsIn(schema));
  }

  /** Runs named queries on the connections of `lend`. */
  through(
    lend: (work: (client: PgClient) => Promise<Received>, name: QueryName) => Promise<Received>,
    { lockMs = 0, isForTenant = NEVER }: ThroughOptions = {},
  ): Sql {
    const query = (name: QueryName, parameters: object, rowMode?: "array"): Promise<Received> => {
      const call = isForTenant() ? undefined : this.#calls.get(name);
      const text = call ?? this.#texts.get(name) ?? "";
      const values = this.#values(name, parameters);
      const mode = rowMode === undefined ? {} : { rowMode };
      const sent = {
        text,
        values,
        types,
        query_timeout: timeoutMs(queries[name].timeout, values) + lockMs,
        ...mode,
      };
      return lend((client) => send(client, sent), name);
    };
    return {
      run: async (name, parameters) => this.#touched(name, await query(name, parameters)),
      all: async (name, parameters) => (await query(name, parameters)).rows,
      get: async (name, parameters) => (await query(name, parameters)).rows[0],
      tuples: async (name, parameters) => (await query(name, parameters, "array")).rows,
    };
  }

  #touched(name: QueryName, { rows, rowCount }: Received): number {
    return this.#calls.has(name) && countsRows(name) ? countIn(rows) : (rowCount ?? 0);
  }

  #values(name: QueryName, parameters: object): Value[] {
    const bag: Readonly<Record<string, Value>> = { now: this.#now(), ...parameters };
    return queries[name].parameters.map((parameter) => bag[parameter] ?? null);
  }
}

const NAMES = Object.keys(queries).filter(isName);

function isName(name: string): name is QueryName {
  return name in queries;
}

function callsIn(schema: string): [QueryName, string][] {
  return NAMES.flatMap((name) => {
    const call = callOf(name);
    return call === undefined ? [] : [[name, inSchema(call, schema)]];
  });
}

/** Who may not write the tables and may call the routines has the role of the engine. */
const ACCESS = `SELECT NOT has_table_privilege(meta.oid, 'INSERT')
                  AND has_function_privilege(routine.oid, 'EXECUTE') AS routines
                FROM pg_namespace AS space
                JOIN pg_class AS meta
                  ON meta.relnamespace = space.oid AND meta.relname = 'meta'
                JOIN pg_proc AS routine
                  ON routine.pronamespace = space.oid AND routine.proname = 'run_installation'
                WHERE space.nspname = $1`;

/** What the user of a connection may use. All connections of a pool have the same user. */
export async function accessOf(client: PgClient, schema: string): Promise<SqlAccess> {
  const { rows } = await send(client, { text: ACCESS, values: [schema] });
  return rows[0]?.routines === true ? "routines" : "tables";
}

export function routineName(query: string): string {
  return `run_${query}`;
}

/** The statement that calls the routine of a query. Undefined: the query is sent as it is. */
export function callOf(query: QueryName): string | undefined {
  const { routine } = queries[query];
  if (routine === null) return undefined;
  const taken = routine.takes === "" ? [] : routine.takes.split(", ");
  const values = taken.map((type, index) => `$${index + 1}::${type}`);
  return `SELECT * FROM millrace.${routineName(query)}(${values.join(", ")})`;
}

/** Whether the routine of a query answers one row: how many rows its statement has touched. */
export function countsRows(query: QueryName): boolean {
  return queries[query].routine?.gives === null;
}

/** The count in the answer of such a routine. */
export function countIn(rows: readonly object[]): number {
  return Number(Object.values(rows[0] ?? {})[0] ?? 0);
}

/** A text of `sql/postgres` for one installation. Names of objects in strings are changed, too. */
export function inSchema(text: string, schema: string): string {
  const name = quoted(schema);
  // Whether a backslash escapes in a plain string depends on a setting of the session.
  const opening = name.includes("\\") ? "E'" : "'";
  const nameInString = name.replaceAll("\\", "\\\\").replaceAll("'", "''");
  return text.replaceAll(/('?)\bmillrace\./g, (_, quote: string) =>
    quote === "" ? `${name}.` : `${opening}${nameInString}.`,
  );
}

/** A name as a quoted identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
