/** The statements of a copy, generated from the descriptions of the tables. */
import type { CopiedTable } from "../../shared/copy/tables.ts";
import type { KeyRange } from "../../shared/copy/ends.ts";

/** Inserts the rows of `$1`, a list of lines. */
export function insertOf(table: CopiedTable): string {
  const columns = Object.entries(table.columns);
  const names = columns.map(([name]) => `"${name}"`).join(", ");
  const values = columns.map(([name, kind]) => VALUE[kind](`line."${name}"`)).join(", ");
  const types = columns.map(([name, kind]) => `"${name}" ${LINE_TYPE[kind] ?? "text"}`);
  return `INSERT INTO millrace.${relationOf(table)} (${names})
          SELECT ${values} FROM json_to_recordset($1::json) AS line (${types.join(", ")})`;
}

type ColumnType = CopiedTable["columns"][string];

/** Column kinds that are numbers in a line. All others are text. */
const LINE_TYPE: Readonly<Partial<Record<ColumnType, string>>> = {
  number: "bigint",
  moment: "bigint",
  real: "double precision",
};

const VALUE: Readonly<Record<ColumnType, (value: string) => string>> = {
  number: (value) => value,
  real: (value) => value,
  moment: (value) => `millrace.at_ms(${value})`,
  text: (value) => value,
  json: (value) => `${value}::json`,
  id: (value) => `${value}::uuid`,
  bytes: (value) => `decode(${value}, 'hex')`,
  keys: (value) => `${value}::bigint[]`,
  ids: (value) => `${value}::uuid[]`,
  texts: (value) =>
    `CASE WHEN ${value} IS NOT NULL
          THEN ARRAY(SELECT json_array_elements_text(${value}::json)) END`,
};

/** All rows in line format, in the order of their keys, byte by byte in any collation. */
export function selectOf(table: CopiedTable): string {
  const columns = Object.entries(table.columns);
  const values = columns.map(
    ([name, kind]) => `${LINE_VALUE[kind](`place."${name}"`)} AS "${name}"`,
  );
  const key = table.key.map((name) => {
    return `place."${name}"${table.columns[name] === "text" ? ' COLLATE "C"' : ""}`;
  });
  return `SELECT ${values.join(", ")} FROM millrace.${relationOf(table)} AS place
          WHERE ${filterOf(table)} ORDER BY ${key.join(", ")}`;
}

const LINE_VALUE: Readonly<Record<ColumnType, (column: string) => string>> = {
  number: (column) => column,
  real: (column) => column,
  moment: (column) => `millrace.ms_of(${column})`,
  text: (column) => column,
  json: (column) => `${column}::text`,
  id: (column) => `replace(${column}::text, '-', '')`,
  bytes: (column) => `encode(${column}, 'hex')`,
  keys: (column) => `${column}::text`,
  ids: (column) => `replace(${column}::text, '-', '')`,
  texts: (column) => `to_json(${column})::text`,
};

/** The keys of a range as one text. Only for tables with numeric keys. */
export function keysOf(table: CopiedTable, range: KeyRange): string {
  const key = table.key.map((name) => `"${name}"`);
  const order = key.join(", ");
  return `SELECT coalesce(string_agg(${key.join(" || '.' || ")}::text, ',' ORDER BY ${order}), '')
              AS keys
          FROM millrace.${table.name} WHERE ${within(table, range)}`;
}

/** Deletes rows by the texts of their keys. */
export function deleteOf(table: CopiedTable, keys: readonly string[]): string {
  const columns = table.key.map((name) => `"${name}"`).join(", ");
  const values = keys.map((key) => `(${key.split(".").map(Number).join(", ")})`);
  const same = table.key.map((name) => `place."${name}" = gone."${name}"`);
  return `DELETE FROM millrace.${table.name} AS place
          USING (VALUES ${values.join(", ")}) AS gone (${columns}) WHERE ${same.join(" AND ")}`;
}

/** The keys are numbers, so they are safe in the text of the statement. */
function within({ key }: CopiedTable, { after, upTo }: KeyRange): string {
  const columns = key.map((name) => `"${name}"`).join(", ");
  const list = (values: readonly unknown[]): string => values.map(Number).join(", ");
  const from = after === null ? "true" : `(${columns}) > (${list(after)})`;
  return upTo === null ? from : `${from} AND (${columns}) <= (${list(upTo)})`;
}

function relationOf({ name }: CopiedTable): string {
  return name === "successor" ? "dedup" : name;
}

/** Name 1 exists in every installation; tenant 0 and type 0 mark the rows of successors. */
function filterOf({ name }: CopiedTable): string {
  if (name === "interned_name") return "place.id > 1";
  if (name === "dedup") return "place.tenant <> 0";
  return name === "successor" ? "place.tenant = 0" : "true";
}

/**
 * What the owner of an installation on PostgreSQL sets up before it has jobs. A copy leaves these
 * tables as they are.
 */
export const KEPT: readonly string[] = ["role_limit", "registered_function"];

/** All other tables of an installation but `meta`, which holds the progress of the copy. */
const TABLES = [
  "interned_name",
  "job",
  "tag",
  "scheduled",
  "ready",
  "blocked",
  "lease",
  "run_start",
  "attempt",
  "gate",
  "type_setting",
  "type_override",
  "service_use",
  "breaker",
  "breaker_change",
  "service_park",
  "limit_setting",
  "permit",
  "key_rate",
  "fair_lane",
  "fair_turn",
  "intake",
  "payload_rule",
  "quota",
  "quota_use",
  "tenant_removal",
  "crash_streak",
  "worker",
  "worker_type",
  "ended_run",
  "idempotency",
  "dedup",
  "alias",
  "cancel_request",
  "lock",
  "dependency",
  "finished_dependency",
  "run",
  "phase",
  "unit",
  "log",
  "stale",
  "event_outbox",
  "event",
  "feed_head",
  "dead_letter",
  "failure_group",
  "api_token",
  "minute_outbox",
  "minute",
  "deploy",
  "saved_view",
  "schedule",
  "schedule_tick",
  "audit",
  "audit_seal",
  "audit_start",
  "operation",
  "operation_item",
  "task_error",
] as const;

/** Blocks the writes of stores that were opened before the copy began, until it is finished. */
export const GUARD: string = `
CREATE FUNCTION millrace.refuse_while_copying() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
    RAISE EXCEPTION 'a copy into this schema has not ended' USING ERRCODE = 'MR001';
END
$guard$;
${TABLES.map(
  (table) => `
CREATE TRIGGER copying BEFORE INSERT OR UPDATE OR DELETE ON millrace.${table}
    FOR EACH STATEMENT
    WHEN (current_setting('millrace_copy.writes', true) IS DISTINCT FROM 'yes')
    EXECUTE FUNCTION millrace.refuse_while_copying();`,
).join("")}`;

export const UNGUARD = "DROP FUNCTION millrace.refuse_while_copying() CASCADE";

/** The tables with more rows than a new installation. */
export const OCCUPIED: string = TABLES.map((table) => {
  const first =
    table === "interned_name" ? "WHERE id > 1" : table === "feed_head" ? "WHERE position > 0" : "";
  return `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM millrace.${table} ${first})`;
}).join("\nUNION ALL ");

/** Makes the schema a new installation again. */
export const EMPTY: string = `
TRUNCATE ${TABLES.map((table) => `millrace.${table}`).join(", ")} RESTART IDENTITY;
INSERT INTO millrace.interned_name (id, kind, text) VALUES (1, 2, 'default');
INSERT INTO millrace.feed_head (one, position) VALUES (true, 0);`;

export const ANALYZE: string = `ANALYZE ${TABLES.map((table) => `millrace.${table}`).join(", ")}`;
