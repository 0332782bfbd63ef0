/** How many pages each table and its indexes were asked for: a figure without the noise of time. */
import type { Client } from "pg";

/** Pages by table. */
export type Pages = ReadonlyMap<string, number>;

export async function readPages(client: Client, schema: string): Promise<Pages> {
  // Within a transaction the figures would stay those of the first look.
  await client.query("SELECT pg_stat_clear_snapshot()");
  const { rows } = await client.query<{ name: string; pages: number }>(
    `SELECT relname AS name,
            (coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0)
             + coalesce(idx_blks_read, 0) + coalesce(toast_blks_hit, 0)
             + coalesce(toast_blks_read, 0))::float8 AS pages
     FROM pg_statio_user_tables
     WHERE schemaname = $1`,
    [schema],
  );
  return new Map(rows.map(({ name, pages }) => [name, pages]));
}

/** The pages of a period, per job. */
export function pagesPerJob(from: Pages, to: Pages, jobs: number): Pages {
  return new Map([...to].map(([name, pages]) => [name, (pages - (from.get(name) ?? 0)) / jobs]));
}

export function sumOf(pages: Pages): number {
  return [...pages.values()].reduce((sum, each) => sum + each, 0);
}
