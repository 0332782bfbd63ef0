/**
 * The statements that bring the routines of an installation to this release. `millrace migrate`
 * adds and replaces them: workers of an older release go on to call what it leaves. `millrace
 * migrate --roles` also drops what this release does not have.
 */
import { send, type PgClient } from "../database/pool.ts";
import { inSchema, quoted, Statements, type Sql } from "../database/statements.ts";
import { texts } from "../database/values.ts";
import { MARK, routinesDigest, routinesOf, SETTINGS, type Routine } from "./routines.ts";

/** Hundreds of functions on a busy server. */
const INSTALL_MS_MAX = 600_000;

/** A routine of the catalogue. */
export interface FoundRoutine {
  readonly name: string;
  readonly takes: string;
  readonly digest: string;
  /** It has the rights and settings with which it was made. */
  readonly sound: boolean;
  /** The role of the engine may call it. */
  readonly allowed: boolean;
}

export interface RoutineDifferences {
  readonly missing: readonly Routine[];
  /** Another body, or other settings. */
  readonly changed: readonly Routine[];
  readonly withheld: readonly Routine[];
  /** Of another release. */
  readonly extra: readonly FoundRoutine[];
}

/** The routines that an installation has, of whatever release. */
export function foundRoutines(sql: Sql, schema: string): Promise<FoundRoutine[]> {
  return sql.all("list_routines", { schema, mark: MARK, settings: texts(SETTINGS) });
}

/** Brings them to this release, in a transaction of the owner. Nothing, where there are none. */
export async function refreshRoutines(client: PgClient, schema: string): Promise<void> {
  const statements = new Statements({ schema, access: "tables", now: () => null });
  const sql = statements.through((run) => run(client));
  const installation = await sql.all("installation", {});
  if (installation.every(({ name }) => name !== "routines")) return;
  const found = await foundRoutines(sql, schema);
  const text = routineStatements(schema, found, { drop: false }).join(";\n");
  await send(client, { text, query_timeout: INSTALL_MS_MAX });
}

/** How the routines of an installation differ from those of this release. */
export function differencesOf(schema: string, found: readonly FoundRoutine[]): RoutineDifferences {
  const wanted = routinesOf(schema);
  const known = new Set(wanted.map(signatureOf));
  const bySignature = new Map(found.map((each) => [signatureOf(each), each]));
  const isChanged = (routine: Routine): boolean => {
    const there = bySignature.get(signatureOf(routine));
    return there !== undefined && !(there.sound && there.digest === routine.digest);
  };
  return {
    missing: wanted.filter((routine) => !bySignature.has(signatureOf(routine))),
    changed: wanted.filter(isChanged),
    withheld: wanted.filter(
      (routine) => bySignature.get(signatureOf(routine))?.allowed === false && !isChanged(routine),
    ),
    extra: found.filter((each) => !known.has(signatureOf(each))),
  };
}

/** Statements that run as the owner of the schema. `drop`: also what this release does not have. */
export function routineStatements(
  schema: string,
  found: readonly FoundRoutine[],
  { drop }: { readonly drop: boolean },
): readonly string[] {
  const { missing, changed, withheld, extra } = differencesOf(schema, found);
  const made = [...missing, ...changed];
  // A routine that is replaced may have other columns now.
  const gone = [...changed, ...(drop ? extra : [])];
  const granted = [...made, ...withheld];
  const engine = quoted(`${schema}_engine`);
  return [
    ...gone.map((routine) => `DROP FUNCTION IF EXISTS ${shownIn(schema, routine)}`),
    ...made.map(({ statement }) => statement),
    ...(made.length === 0 ? [] : [`REVOKE ALL ON FUNCTION ${listIn(schema, made)} FROM PUBLIC`]),
    ...(granted.length === 0
      ? []
      : [`GRANT EXECUTE ON FUNCTION ${listIn(schema, granted)} TO ${engine}`]),
    inSchema(
      `INSERT INTO millrace.meta (name, value) VALUES ('routines', '${routinesDigest()}')
ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      schema,
    ),
  ];
}

export function shownIn(schema: string, { name, takes }: Pick<Routine, "name" | "takes">): string {
  return `${quoted(schema)}.${name}(${takes})`;
}

function listIn(schema: string, routines: readonly Routine[]): string {
  return routines.map((routine) => shownIn(schema, routine)).join(",\n    ");
}

function signatureOf({ name, takes }: Pick<Routine, "name" | "takes">): string {
  return `${name}(${takes})`;
}
