/**
 * Queries as functions of the schema, for users who may not touch its tables. Each has the
 * parameters and columns of its query, runs with the rights of the owner and names every object
 * with its schema, so that neither the search path nor temporary objects of a caller change what it
 * does. Its statement is planned at every call with the values of that call, as the server plans a
 * statement that it is sent.
 */
import { createHash } from "node:crypto";
import { queries } from "../database/queries.gen.ts";
import { inSchema, quoted, routineName } from "../database/statements.ts";

export interface Routine {
  readonly name: string;
  /** Types of its parameters. */
  readonly takes: string;
  /** The statement that creates it, or replaces one with the same columns. */
  readonly statement: string;
  /** A digest of its body, which names its parameters and columns. */
  readonly digest: string;
}

/** How the catalogue shows the settings of a routine. */
export const SETTINGS: readonly string[] = [
  "search_path=pg_catalog, pg_temp",
  "plan_cache_mode=force_custom_plan",
];
/** How each body begins: other functions of the schema are left alone. */
export const MARK = "\n-- A routine of Millrace, for";

const ATTRIBUTES = `VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan`;

/** All routines of this release in a schema, with its name. */
export function routinesOf(schema: string): readonly Routine[] {
  return Object.entries(queries).flatMap(([query, { text, routine }]) => {
    if (routine === null) return [];
    const { takes, gives } = routine;
    const name = routineName(query);
    const body = inSchema(bodyOf(query, text, routine), schema);
    const columns = gives === null ? null : gives.split(", ").map(quotedColumn).join(", ");
    const returns = columns === null ? "bigint" : `TABLE (${columns})`;
    const statement = `CREATE OR REPLACE FUNCTION ${quoted(schema)}.${name}(${takes})
RETURNS ${returns}
LANGUAGE plpgsql ${ATTRIBUTES}
AS $routine$${body}$routine$`;
    return [{ name, takes, statement, digest: digestOf(body) }];
  });
}

/** By which an installation tells whether it has the routines of this release. */
export function routinesDigest(): string {
  const all = routinesOf("millrace").map(({ statement }) => statement);
  return digestOf(all.join("\n")).slice(0, 32);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

interface Shape {
  readonly takes: string;
  readonly gives: string | null;
}

function bodyOf(query: string, text: string, { takes, gives }: Shape): string {
  const head = `${MARK} ${query}: (${takes}), ${gives ?? "a count"}\n#variable_conflict use_column`;
  if (gives !== null) return `${head}\nBEGIN\nRETURN QUERY\n${text};\nEND\n`;
  return `${head}
DECLARE
    touched bigint;
BEGIN
${text};
GET DIAGNOSTICS touched = ROW_COUNT;
RETURN touched;
END
`;
}

function quotedColumn(column: string): string {
  const at = column.indexOf(" ");
  return `${quoted(column.slice(0, at))}${column.slice(at)}`;
}
