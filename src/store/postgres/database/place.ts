/** Names the database in messages, without its password. */
import { optionsOf } from "./callers-pool.ts";
import type { PoolOptions } from "./pool.ts";

/** The name of the database; null: a pool does not tell it. */
export function databaseOf({ url, pool }: Pick<PoolOptions, "url" | "pool">): string | null {
  if (pool !== undefined) return databaseIn(optionsOf(pool)?.["database"]);
  if (url === undefined || !URL.canParse(url)) return null;
  const { pathname, username } = new URL(url);
  // Without a name, the server takes that of the user.
  return databaseIn(decodeURIComponent(pathname.slice(1) || username));
}

function databaseIn(name: unknown): string | null {
  return typeof name === "string" && name !== "" ? name : null;
}

export function placeOf({ url }: Pick<PoolOptions, "url">): string {
  if (url === undefined || !URL.canParse(url)) return "PostgreSQL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}
