/** Named queries: parameters by name in, rows out. */
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

/** The queries of one installation, with the quoted name of its schema. */
export class Statements {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #now: () => string | null;

  /** `now` returns the instant of a test's clock, or null for the server's clock. */
  constructor(schema: string, now: () => string | null) {
    this.#now = now;
    this.#texts = new Map(
      Object.entries(queries).map(([name, { text }]) => [name, inSchema(text, schema)]),
    );
  }

  /**
   * Runs named queries on the connections of `lend`. `lockMs` is how long each of them may wait for
   * a lock.
   */
  through(
    lend: (work: (client: PgClient) => Promise<Received>, name: QueryName) => Promise<Received>,
    lockMs = 0,
  ): Sql {
    const query = (name: QueryName, parameters: object, rowMode?: "array"): Promise<Received> => {
      const text = this.#texts.get(name) ?? "";
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
      run: async (name, parameters) => (await query(name, parameters)).rowCount ?? 0,
      all: async (name, parameters) => (await query(name, parameters)).rows,
      get: async (name, parameters) => (await query(name, parameters)).rows[0],
      tuples: async (name, parameters) => (await query(name, parameters, "array")).rows,
    };
  }

  #values(name: QueryName, parameters: object): Value[] {
    const bag: Readonly<Record<string, Value>> = { now: this.#now(), ...parameters };
    return queries[name].parameters.map((parameter) => bag[parameter] ?? null);
  }
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
