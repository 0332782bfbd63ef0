/**
 * Which queries of PostgreSQL become routines: functions with the rights of the owner, for users
 * who may call functions but not touch tables. A query that returns rows becomes a routine that
 * returns them; another one becomes a routine that returns how many rows it touched.
 */
import { bindParameters } from "./files.ts";
import type { DescribedQuery } from "./headers.ts";

/** Other statements need no right on the schema, and no function may roll back to a savepoint. */
const TOUCHES_SCHEMA = /\bmillrace\./;
const CAST = /(?<![:\w]):([a-z_]+)::([a-z]+(?: precision)?(?:\[\])?)/g;
/** As the server calls them. */
const LONG_NAMES: Readonly<Record<string, string>> = { timestamptz: "timestamp with time zone" };

export interface RoutineShape {
  /** The types of its parameters, in their order. */
  readonly takes: string;
  /** Its columns with their types. Null: it returns how many rows it touched. */
  readonly gives: string | null;
}

/** Null: everyone may send the query, or it must run with the rights of its caller. */
export function routineOf(query: DescribedQuery): RoutineShape | null {
  const { text } = bindParameters(query.text, "postgres");
  if (query.rights === "caller" || !TOUCHES_SCHEMA.test(text)) return null;
  const types = parametersOf(query).map(({ type }) => LONG_NAMES[type] ?? type);
  const columns = query.returns?.columns.map(({ name, type }) => `${name} ${type}`);
  return { takes: types.join(", "), gives: columns?.join(", ") ?? null };
}

/** The parameters of a query in their order. Each is cast in the text, always to the same type. */
export function parametersOf(query: DescribedQuery): { name: string; type: string }[] {
  const types = castsOf(query);
  return bindParameters(query.text, "postgres").parameters.map((name) => {
    const type = types.get(name);
    if (type === undefined) throw new Error(`${query.name}: cast the parameter ${name}`);
    return { name, type };
  });
}

function castsOf(query: DescribedQuery): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const [, name = "", type = ""] of query.text.matchAll(CAST)) {
    const other = types.get(name) ?? type;
    if (other !== type) throw new Error(`${query.name}: ${name} is cast to ${other} and ${type}`);
    types.set(name, type);
  }
  return types;
}
