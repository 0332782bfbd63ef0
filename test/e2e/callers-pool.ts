/** What the test of a caller's pool shares with its child process. */
import type { PoolConfig } from "pg";
import { defineJob } from "../../src/api/define.ts";

export const LEASE = "2s";
/** Four leases: long enough for another worker to take the jobs of a silent one. */
export const BLOCKED_MS = 8_000;

export const block = defineJob({ type: "block" });

/** The password by itself, as many applications have it: `pg` then hides it from a copy. */
export function connectionOf(url: string): PoolConfig {
  const { hostname, port, username, password } = new URL(url);
  const host = { host: hostname, port: Number(port), database: "postgres" };
  return { ...host, user: username, password: decodeURIComponent(password) };
}
