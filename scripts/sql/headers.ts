/**
 * The headers of `.sql` files: what a query returns, and how long its answer is waited for.
 *
 * Below the prose of a query:
 *
 *     -- returns: key bigint, reason text?, place text `"ready" | "blocked"`
 *     -- returns tuples: key bigint, n integer
 *     -- timeout: reader
 *
 * A column is a name, a type of the database, `?` if it may be null, and in backquotes a TypeScript
 * type that is more precise than that of the database. A query without rows has no `returns`.
 * `returns tuples` is for rows that are read as arrays. `timeout` is a class of
 * `statement-timeouts.ts`, on PostgreSQL alone. `rights: caller`, there as well, is for a query
 * that asks what its own user may do: it never becomes a routine with the rights of the owner.
 *
 * At the head of a file, a row or a tuple that several queries share gets a name, which stands for
 * its columns in every file of the dialect:
 *
 *     -- row WaitingRow: key bigint, rank bigint
 *     -- tuple ClaimTuple: lost boolean, key bigint?
 *
 * A header goes on in the next lines as long as these are indented by three spaces.
 */
import { splitQueries, type Dialect, type NamedQuery, type SqlFile } from "./files.ts";

export interface Column {
  readonly name: string;
  /** The type as the database knows it. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The TypeScript type without null. */
  readonly script: string;
}

export interface Shape {
  readonly kind: "row" | "tuple";
  /** Set for a declared row or tuple. */
  readonly name: string | null;
  readonly columns: readonly Column[];
}

export interface DescribedQuery extends NamedQuery {
  readonly returns: Shape | null;
  readonly timeout: string | null;
  readonly rights: "owner" | "caller";
}

export interface Described {
  readonly shapes: readonly Shape[];
  readonly queries: readonly DescribedQuery[];
}

const HEADER = /^-- (row|tuple|returns|returns tuples|timeout|rights)(?: ([A-Z]\w*))?: (.*)$/;
const CONTINUED = /^-- {3,}(\S.*)$/;
const COLUMN =
  /\s*(?:([A-Z]\w*)|([a-z_]\w*) ([a-z]+(?: precision)?(?:\[\])?)(\?)?(?: `([^`]+)`)?)\s*(?:,|$)/y;

const SCRIPT_TYPES: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  postgres: {
    bigint: "number",
    "bigint[]": "readonly number[]",
    boolean: "boolean",
    "double precision": "number",
    integer: "number",
    "integer[]": "readonly number[]",
    json: "string",
    name: "string",
    smallint: "number",
    text: "string",
    uuid: "JobId",
    "uuid[]": "readonly JobId[]",
  },
  sqlite: {
    blob: "Uint8Array",
    boolean: "0 | 1",
    integer: "number",
    real: "number",
    text: "string",
  },
};

interface Header {
  readonly key: string;
  readonly name: string | null;
  readonly value: string;
}

/** Reads the headers of all files of queries. Throws at the first one that it cannot read. */
export function describeQueries(dialect: Dialect, files: readonly SqlFile[]): Described {
  const shapes = new Map<string, Shape>();
  for (const { path, text } of files) {
    for (const { key, name, value } of headersOf(text)) {
      if (key !== "row" && key !== "tuple") continue;
      if (name === null || shapes.has(name)) throw new Error(`${path}: name the ${key} once`);
      const columns = columnsOf(dialect, value, shapes, `${path} ${name}`);
      shapes.set(name, { kind: key, name, columns });
    }
  }
  const queries = files
    .flatMap(({ path, text }) => splitQueries(path, text))
    .map((query) => describeQuery(dialect, query, shapes));
  return { shapes: [...shapes.values()], queries };
}

function describeQuery(
  dialect: Dialect,
  query: NamedQuery,
  shapes: ReadonlyMap<string, Shape>,
): DescribedQuery {
  const place = `${query.file} ${query.name}`;
  const headers = new Map(headersOf(query.text).map(({ key, value }) => [key, value]));
  const [row, tuple] = [headers.get("returns"), headers.get("returns tuples")];
  if (row !== undefined && tuple !== undefined) throw new Error(`${place}: rows or tuples`);
  const kind = row === undefined ? "tuple" : "row";
  const value = row ?? tuple;
  return {
    ...query,
    returns: value === undefined ? null : shapeOf(dialect, kind, value, shapes, place),
    timeout: headers.get("timeout") ?? null,
    rights: rightsOf(headers.get("rights"), place),
  };
}

function rightsOf(header: string | undefined, place: string): DescribedQuery["rights"] {
  if (header !== undefined && header !== "caller") throw new Error(`${place}: rights: caller`);
  return header ?? "owner";
}

function shapeOf(
  dialect: Dialect,
  kind: Shape["kind"],
  value: string,
  shapes: ReadonlyMap<string, Shape>,
  place: string,
): Shape {
  const known = shapes.get(value);
  if (known === undefined) {
    return { kind, name: null, columns: columnsOf(dialect, value, shapes, place) };
  }
  if (known.kind !== kind) throw new Error(`${place}: ${value} is a ${known.kind}`);
  return known;
}

function headersOf(text: string): Header[] {
  const headers: Header[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const [, key, name = null, value = ""] = HEADER.exec(line) ?? [];
    const more = CONTINUED.exec(line)?.[1];
    if (key !== undefined) headers.push({ key, name, value });
    else if (isOpen && more !== undefined) {
      const last = headers.pop()!;
      headers.push({ ...last, value: `${last.value} ${more}`.trim() });
    }
    isOpen = key !== undefined || (isOpen && more !== undefined);
  }
  return headers;
}

function columnsOf(
  dialect: Dialect,
  value: string,
  shapes: ReadonlyMap<string, Shape>,
  place: string,
): Column[] {
  const columns: Column[] = [];
  COLUMN.lastIndex = 0;
  while (COLUMN.lastIndex < value.length) {
    const at = COLUMN.lastIndex;
    const match = COLUMN.exec(value);
    if (match === null) throw new Error(`${place}: cannot read "${value.slice(at)}"`);
    const [, shape, name = "", type = "", nullable, own] = match;
    if (shape === undefined) {
      const script = own ?? SCRIPT_TYPES[dialect][type];
      if (script === undefined) throw new Error(`${place}: ${name} has an unknown type, ${type}`);
      columns.push({ name, type, isNullable: nullable !== undefined, script });
      continue;
    }
    const known = shapes.get(shape);
    if (known === undefined) throw new Error(`${place}: ${shape} is not declared above`);
    columns.push(...known.columns);
  }
  return columns;
}
