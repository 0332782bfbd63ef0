/**
 * What somebody has changed by hand. The migrations are run in a schema of their own, in a
 * transaction that leaves nothing behind, and what they make there is compared with what there is:
 * only the server itself can say whether two definitions are the same.
 */
import { isDenied } from "../database/errors.ts";
import type { ServerFinding } from "./examine.ts";
import { send } from "../database/pool.ts";
import { migrations } from "../database/queries.gen.ts";
import type { SchemaObject } from "../database/rows-views.ts";
import type { Session } from "../database/session.ts";
import { inSchema, quoted } from "../database/statements.ts";

const NAME = "schema";
const TRIAL_MS_MAX = 60_000;

export async function schemaDrift(session: Session): Promise<ServerFinding[]> {
  const found = await session.read.get("schema_version", {});
  const newest = migrations.at(-1)?.version;
  if (found?.version !== newest) {
    return [{ name: NAME, found: "of another release, so it was not compared", fix: null }];
  }
  try {
    return await compare(session);
  } catch (error) {
    if (!isDenied(error)) throw error;
    const why = "not compared: this user may not create a schema in the database";
    return [{ name: NAME, found: why, fix: null }];
  }
}

async function compare(session: Session): Promise<ServerFinding[]> {
  const { schema, dice } = session;
  const model = `millrace_doctor_${Buffer.from(dice.bytes(8)).toString("hex")}`;
  const [made, there] = await session.trial(async (sql, client) => {
    // Definitions name the schema of everything that is not found without it.
    await send(client, { text: `SET LOCAL search_path = ''; CREATE SCHEMA ${quoted(model)}` });
    for (const migration of migrations) {
      const text = inSchema(migration.sql, model);
      await send(client, { text, query_timeout: TRIAL_MS_MAX });
    }
    return [
      await sql.all("schema_objects", { schema: model }),
      await sql.all("schema_objects", { schema }),
    ];
  });
  const found = new Map(there.map((object) => [markOf(object), object]));
  return made
    .filter(({ kind, home }) => kind === "table" || !isMissing(found, home, made))
    .flatMap((object) => findingOf({ schema, model }, object, found.get(markOf(object))));
}

function markOf({ kind, home, name }: SchemaObject): string {
  return JSON.stringify([kind, home, name]);
}

/** Of a table that is missing, nothing more need be said. */
function isMissing(
  found: ReadonlyMap<string, SchemaObject>,
  home: string,
  made: readonly SchemaObject[],
): boolean {
  const table = made.find(({ kind, name }) => kind === "table" && name === home);
  return table !== undefined && !found.has(markOf(table));
}

/** The schema that was examined, and the one that the migrations have made beside it. */
interface Schemas {
  readonly schema: string;
  readonly model: string;
}

function findingOf(
  schemas: Schemas,
  wanted: SchemaObject,
  found: SchemaObject | undefined,
): ServerFinding[] {
  const { kind, home, name } = wanted;
  const whose = kind === "column" || kind === "constraint" ? `${home}.${name}` : name;
  const fault = faultOf(schemas, wanted, found);
  if (fault === null) return [];
  return [
    { name: NAME, found: `the ${kind} ${whose} is ${fault}`, fix: fixOf(schemas, wanted, fault) },
  ];
}

type SchemaFault = "missing" | "invalid" | "changed";

function faultOf(
  schemas: Schemas,
  wanted: SchemaObject,
  found: SchemaObject | undefined,
): SchemaFault | null {
  if (found === undefined) return "missing";
  const isSame = unqualified(schemas, wanted) === unqualified(schemas, found);
  if (!isSame) return "changed";
  // A constraint that was never held against old rows need not be, here or there.
  return found.valid || !wanted.valid ? null : "invalid";
}

/** A definition without the names of schemas, which are all that may differ. */
function unqualified({ schema, model }: Schemas, { definition }: SchemaObject): string {
  const names = [schema, model].flatMap((name) => [quoted(name), name]).map(escaped);
  return bare(definition)
    .replace(/ NOT VALID$/, "")
    .replaceAll(new RegExp(`(?<![\\w"])(?:${names.join("|")})\\.`, "g"), "");
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w\s]/g, String.raw`\$&`);
}

/** On one line and without comments. No text of the migrations has two dashes in a string. */
function bare(definition: string): string {
  return definition
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The statement that makes the schema what it should be. */
function fixOf({ schema, model }: Schemas, wanted: SchemaObject, fault: SchemaFault): string {
  const at = (name: string): string => `${quoted(schema)}.${quoted(name)}`;
  const text = bare(wanted.definition)
    .replaceAll(`${quoted(model)}.`, `${quoted(schema)}.`)
    .replaceAll(`${model}.`, `${quoted(schema)}.`);
  const { kind, home, name } = wanted;
  const table = `ALTER TABLE ${at(home)}`;
  switch (kind) {
    case "table":
      return "Its rows are gone: restore the last backup.";
    case "column":
      if (fault === "missing") return `${table} ADD COLUMN ${quoted(name)} ${text};`;
      // What is made from other columns can be made again.
      if (text.includes("GENERATED ALWAYS")) {
        return `${table} DROP COLUMN ${quoted(name)}, ADD COLUMN ${quoted(name)} ${text};`;
      }
      return `${table} ${altered(quoted(name), text)};`;
    case "constraint": {
      if (fault === "invalid") return `${table} VALIDATE CONSTRAINT ${quoted(name)};`;
      const drop = fault === "changed" ? `DROP CONSTRAINT ${quoted(name)}, ` : "";
      return `${table} ${drop}ADD CONSTRAINT ${quoted(name)} ${text};`;
    }
    case "index": {
      if (fault === "invalid") return `REINDEX INDEX CONCURRENTLY ${at(name)};`;
      const drop = fault === "changed" ? `DROP INDEX CONCURRENTLY ${at(name)}; ` : "";
      return `${drop}${text.replace(/^(CREATE (?:UNIQUE )?INDEX)/, "$1 CONCURRENTLY")};`;
    }
    case "view":
      return `CREATE OR REPLACE VIEW ${at(name)} AS ${text}`;
    case "function":
      return `${text};`;
  }
}

function altered(column: string, definition: string): string {
  const [, type = ""] = /^(.*?)(?: GENERATED .*)?(?: NOT NULL)?$/.exec(definition) ?? [];
  const nulls = definition.endsWith("NOT NULL") ? "SET NOT NULL" : "DROP NOT NULL";
  return `ALTER COLUMN ${column} TYPE ${type}, ALTER COLUMN ${column} ${nulls}`;
}
