/** Names the database in messages, without its password. */
import type { PoolOptions } from "./pool.ts";

export function placeOf({ url }: Pick<PoolOptions, "url">): string {
  if (url === undefined || !URL.canParse(url)) return "PostgreSQL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}
