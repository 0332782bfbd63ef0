/**
 * Named queries through the caller's driver. Drivers and their settings differ in the encoding of
 * lists, nulls, JSON and big numbers, and in the decoding of answers; all of them support text. So
 * every parameter is sent as text and cast by the server, and every answer is one text of JSON. No
 * statement is named, and no setting is changed.
 */
import { queries, type QueryParameters } from "../database/queries.gen.ts";
import {
  callOf,
  countIn,
  countsRows,
  inSchema,
  type Sql,
  type SqlAccess,
} from "../database/statements.ts";
import { idFromUuid } from "../../../core/ids.ts";

/** A statement in pieces. Value n belongs between the pieces n and n + 1. */
export interface Statement {
  readonly pieces: readonly string[];
  readonly values: readonly (string | null)[];
}

/** Runs a statement in a caller's transaction and answers its rows. */
export type RunStatement = (statement: Statement) => Promise<readonly object[]>;

interface Installation {
  readonly schema: string;
  /** The caller's user has the same rights as that of the store. */
  readonly access: SqlAccess;
  /** The instant of a test's clock. Null: the server's clock decides. */
  readonly now: string | null;
}

type CallerQueryName = keyof QueryParameters;
type ParameterValue = string | number | boolean | null;

export function callerSql(run: RunStatement, { schema, access, now }: Installation): Sql {
  const callFor = (name: CallerQueryName): string | undefined =>
    access === "routines" ? callOf(name) : undefined;
  const send = (
    name: CallerQueryName,
    parameters: object,
    returnsRows: boolean,
  ): ReturnType<RunStatement> => {
    const plain = callFor(name) ?? queries[name].text;
    const text = returnsRows ? asJson(plain) : plain;
    const values: Readonly<Record<string, ParameterValue>> = { now, ...parameters };
    return run(statementOf(text, schema, (index) => values[queries[name].parameters[index] ?? ""]));
  };
  const all = async (name: CallerQueryName, parameters: object): Promise<any[]> => {
    const [row] = await send(name, parameters, true);
    const answer: unknown = Object.values(row ?? {})[0];
    if (typeof answer !== "string") throw new Error("the transaction returned no rows");
    const rows: object[] = JSON.parse(answer);
    return rows.map(decoded);
  };
  return {
    all,
    async run(name, parameters) {
      const rows = await send(name, parameters, false);
      return callFor(name) !== undefined && countsRows(name) ? countIn(rows) : rows.length;
    },
    get: async (name, parameters) => (await all(name, parameters))[0],
    tuples: async (name, parameters) =>
      (await all(name, parameters)).map((row: object): any => Object.values(row)),
  };
}

/** The main statement begins at the start of a line, after its WITH. */
const MAIN = /^(SELECT|INSERT|DELETE)\b/m;

/** The same statement, with all its rows in one text of JSON. */
function asJson(text: string): string {
  const start = text.search(MAIN);
  const before = text.slice(0, start).trimEnd();
  const head = before === "" ? "WITH" : `${before},`;
  return `${head} answer AS (${text.slice(start)})
SELECT coalesce(json_agg(answer), '[]')::text AS answer FROM answer`;
}

function statementOf(
  text: string,
  schema: string,
  valueAt: (index: number) => ParameterValue | undefined,
): Statement {
  // Every second part is the number of a parameter.
  const parts = text.split(/\$(\d+)(?=::)/);
  const pieces = parts
    .filter((_, index) => index % 2 === 0)
    .map((piece, index) => inSchema(index === 0 ? piece : `::text${piece}`, schema));
  const values = parts
    .filter((_, index) => index % 2 === 1)
    .map((number) => valueAt(Number(number) - 1) ?? null)
    .map((value) => (value === null ? null : String(value)));
  return { pieces, values };
}

const IDS = new Set(["id", "job_id", "seeker", "holder", "later", "scheduled", "ids"]);

/** A row as the store's own driver returns it. */
function decoded(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]: [string, unknown]) => {
      if (column === "payload" && value !== null) return [column, JSON.stringify(value)];
      return [column, IDS.has(column) ? withIds(value) : value];
    }),
  );
}

function withIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIds);
  return typeof value === "string" ? idFromUuid(value) : value;
}
