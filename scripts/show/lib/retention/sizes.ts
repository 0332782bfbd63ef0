/** How much room the tables and indexes of an installation take, and what a claim costs. */
import type { Client } from "pg";

/** One table without its indexes, or one index. */
export interface Size {
  readonly name: string;
  readonly kind: "table" | "index";
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
}

/** Every table, each followed by its indexes. */
export async function readSizes(client: Client, schema: string): Promise<readonly Size[]> {
  const { rows } = await client.query<Size>({
    text: `SELECT owner.relname || coalesce('.' || index.relname, '') AS name,
                  CASE WHEN index.oid IS NULL THEN 'table' ELSE 'index' END AS kind,
                  coalesce(pg_relation_size(index.oid), pg_table_size(owner.oid))::float8 AS bytes,
                  coalesce(stat.n_live_tup, 0)::float8 AS live,
                  coalesce(stat.n_dead_tup, 0)::float8 AS dead
           FROM pg_class AS owner
           JOIN LATERAL (
               SELECT NULL::oid AS oid, NULL::name AS relname
               UNION ALL
               SELECT index.oid, index.relname
               FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
               WHERE indrelid = owner.oid
           ) AS index ON true
           LEFT JOIN pg_stat_user_tables AS stat ON stat.relid = owner.oid AND index.oid IS NULL
           WHERE owner.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
             AND owner.relkind = 'r'
           ORDER BY owner.relname, index.relname NULLS FIRST`,
    values: [schema],
  });
  return rows;
}

/**
 * Whether autovacuum has been at the tables through which every job goes: once to free their pages,
 * and twice more until those of the indexes are used again.
 */
export async function isVacuumed(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(
    `SELECT bool_and(autovacuum_count >= 3) AS done
     FROM pg_stat_user_tables
     WHERE relname IN ('job', 'ready', 'attempt', 'lease', 'event_outbox')`,
  );
  return rows[0]?.done === true;
}

/** The tables of jobs and of what belongs to them that are not empty. */
export async function tablesInUse(client: Client): Promise<readonly string[]> {
  const used: string[] = [];
  for (const name of OF_JOBS) {
    const { rowCount } = await client.query(`SELECT FROM millrace.${name} LIMIT 1`);
    if (rowCount !== 0) used.push(name);
  }
  return used;
}

const OF_JOBS = [
  "job",
  "tag",
  "scheduled",
  "ready",
  "blocked",
  "lease",
  "attempt",
  "idempotency",
  "dedup",
  "cancel_request",
  "event_outbox",
  "event",
  "dead_letter",
];

/** The larger of two readings, thing by thing; rows are those of the later one. */
export function higher(before: readonly Size[], after: readonly Size[]): readonly Size[] {
  const known = new Map(before.map(({ name, bytes }) => [name, bytes]));
  return after.map((size) => ({
    ...size,
    bytes: Math.max(size.bytes, known.get(size.name) ?? 0),
  }));
}

/** What has grown by more than `factor` from one reading to the next, if it is worth a word. */
export function grown(
  before: readonly Size[],
  after: readonly Size[],
  { factor, bytesMin }: { readonly factor: number; readonly bytesMin: number },
): readonly string[] {
  const known = new Map(before.map(({ name, bytes }) => [name, bytes]));
  return after.flatMap(({ name, bytes }) => {
    const once = Math.max(known.get(name) ?? 0, bytesMin);
    if (bytes <= once * factor) return [];
    return [`${name} grew ${(bytes / once).toFixed(2)} times, to ${megabytes(bytes)} MB`];
  });
}

export function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
