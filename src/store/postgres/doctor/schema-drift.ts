/**
 * Finds differences between the schema and the migrations. The migrations are run in a temporary
 * schema, in a transaction that is rolled back, and the definitions of both schemas are compared:
 * only the server can tell whether two definitions are equal.
 */
import { isDenied } from "../database/errors.ts";
import type { ServerFinding } from "./examine.ts";
import { send } from "../database/pool.ts";
import { migrations } from "../database/migrations.gen.ts";
import type { SchemaObject } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { inSchema, quoted } from "../database/statements.ts";

const NAME = "schema";
const DRY_RUN_MS_MAX = 60_000;

export async function schemaDrift(session: Session): Promise<ServerFinding[]> {
  const found = await session.read.get("schema_version", {});
  const newest = migrations.at(-1)?.version;
  if (found?.version !== newest) {
    return [
      { name: NAME, found: "not compared: the schema belongs to another release", fix: null },
    ];
  }
  if (session.access === "routines") {
    const why = `not compared: run millrace doctor as a member of ${session.schema}_migrator`;
    return [{ name: NAME, found: why, fix: null }];
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
  const [expected, actual] = await session.dryRun(async (sql, client) => {
    // With an empty search path, definitions name the schema of every object.
    await send(client, { text: `SET LOCAL search_path = ''; CREATE SCHEMA ${quoted(model)}` });
    for (const migration of migrations) {
      const text = inSchema(migration.sql, model);
      await send(client, { text, query_timeout: DRY_RUN_MS_MAX });
    }
    return [
      await sql.all("schema_objects", { schema: model }),
      await sql.all("schema_objects", { schema }),
    ];
  });
  const found = new Map(actual.map((object) => [identityOf(object), object]));
  return expected
    .filter(({ kind, home }) => kind === "table" || !isTableMissing(found, home, expected))
    .flatMap((object) => findingOf({ schema, model }, object, found.get(identityOf(object))));
}

function identityOf({ kind, home, name }: SchemaObject): string {
  return JSON.stringify([kind, home, name]);
}

/** Objects of a missing table are not reported. */
function isTableMissing(
  found: ReadonlyMap<string, SchemaObject>,
  home: string,
  expected: readonly SchemaObject[],
): boolean {
  const table = expected.find(({ kind, name }) => kind === "table" && name === home);
  return table !== undefined && !found.has(identityOf(table));
}

/** The examined schema, and the temporary schema of the migrations. */
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
  const drift = driftOf(schemas, wanted, found);
  if (drift === null) return [];
  return [
    { name: NAME, found: `the ${kind} ${whose} is ${drift}`, fix: fixOf(schemas, wanted, drift) },
  ];
}

type DriftKind = "missing" | "invalid" | "changed";

function driftOf(
  schemas: Schemas,
  wanted: SchemaObject,
  found: SchemaObject | undefined,
): DriftKind | null {
  if (found === undefined) return "missing";
  const isSame = unqualified(schemas, wanted) === unqualified(schemas, found);
  if (!isSame) return "changed";
  // A constraint that the migrations leave NOT VALID may stay so.
  return found.valid || !wanted.valid ? null : "invalid";
}

/** A definition without schema names, which may differ. */
function unqualified({ schema, model }: Schemas, { definition }: SchemaObject): string {
  const names = [schema, model].flatMap((name) => [quoted(name), name]).map(escaped);
  return normalized(definition)
    .replace(/ NOT VALID$/, "")
    .replaceAll(inString(schema), "'")
    .replaceAll(inString(model), "'")
    .replaceAll(new RegExp(`(?<![\\w"])(?:${names.join("|")})\\.`, "g"), "");
}

/** How a string begins that names an object of the schema. */
function inString(schema: string): string {
  return inSchema("'millrace.", schema);
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w\s]/g, String.raw`\$&`);
}

/** One line without comments. No string of the migrations contains two dashes. */
function normalized(definition: string): string {
  return definition
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The statement that fixes the difference. */
function fixOf({ schema, model }: Schemas, wanted: SchemaObject, drift: DriftKind): string {
  const at = (name: string): string => `${quoted(schema)}.${quoted(name)}`;
  const text = normalized(wanted.definition)
    .replaceAll(inString(model), inString(schema))
    .replaceAll(`${quoted(model)}.`, `${quoted(schema)}.`)
    .replaceAll(`${model}.`, `${quoted(schema)}.`);
  const { kind, home, name } = wanted;
  const table = `ALTER TABLE ${at(home)}`;
  switch (kind) {
    case "table":
      return "Its rows are lost: restore the last backup.";
    case "column":
      if (drift === "missing") return `${table} ADD COLUMN ${quoted(name)} ${text};`;
      // A generated column can be created again.
      if (text.includes("GENERATED ALWAYS")) {
        return `${table} DROP COLUMN ${quoted(name)}, ADD COLUMN ${quoted(name)} ${text};`;
      }
      return `${table} ${altered(quoted(name), text)};`;
    case "constraint": {
      if (drift === "invalid") return `${table} VALIDATE CONSTRAINT ${quoted(name)};`;
      const drop = drift === "changed" ? `DROP CONSTRAINT ${quoted(name)}, ` : "";
      return `${table} ${drop}ADD CONSTRAINT ${quoted(name)} ${text};`;
    }
    case "index": {
      if (drift === "invalid") return `REINDEX INDEX CONCURRENTLY ${at(name)};`;
      const drop = drift === "changed" ? `DROP INDEX CONCURRENTLY ${at(name)}; ` : "";
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
