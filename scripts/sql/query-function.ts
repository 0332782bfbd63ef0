/**
 * A named query of PostgreSQL as a function, for roles that may call functions but not touch
 * tables. A query that returns rows becomes a function that returns them; another one becomes a
 * function that returns how many rows it touched.
 */
import { bindParameters } from "./files.ts";
import type { DescribedQuery } from "./headers.ts";

/** No function may end a transaction, or a part of one. */
const TRANSACTION_CONTROL = /^(?:SAVEPOINT|RELEASE|ROLLBACK)\b/m;
const CAST = /(?<![:\w]):([a-z_]+)::([a-z]+(?: precision)?(?:\[\])?)/g;
/** A column of the result must not bear the name of a parameter. */
const PARAMETER_PREFIX = "given_";

/** The statement that creates the function, in the schema `millrace`. */
export function queryFunction(query: DescribedQuery): string {
  const { text } = bindParameters(query.text, "postgres");
  const list = parametersOf(query).map(({ name, type }) => `${PARAMETER_PREFIX}${name} ${type}`);
  return `CREATE FUNCTION millrace.${functionName(query)}(${list.join(", ")})
${query.returns === null ? countingBody(text) : returningBody(query, text)}`;
}

export function canBeFunction({ text }: DescribedQuery): boolean {
  return !TRANSACTION_CONTROL.test(text);
}

export function functionName({ name }: DescribedQuery): string {
  return `query_${name}`;
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

function returningBody({ returns }: DescribedQuery, text: string): string {
  const columns = (returns?.columns ?? []).map(({ name, type }) => `"${name}" ${type}`);
  return `RETURNS TABLE (${columns.join(", ")})
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = ''
AS $query$
${text}
$query$;`;
}

function countingBody(text: string): string {
  return `RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = ''
AS $query$
#variable_conflict use_column
DECLARE
    touched bigint;
BEGIN
${text};
GET DIAGNOSTICS touched = ROW_COUNT;
RETURN touched;
END
$query$;`;
}
