/** `mill.limits`: how many jobs may run at the same time, and how many may start in a period. */
import type { ActedBy } from "./audit.ts";
import type { QueuedCount } from "../client.ts";
import type { Duration } from "../../core/duration.ts";

export interface Limits {
  /**
   * Sets a limit for a type, a tenant, a service or the whole installation, in place of the one
   * before. The limit of a service is for the jobs of all types that declare the service. A limit
   * counts in all processes from their next claims on. Running jobs continue: if more of them run
   * than the new limit allows, none starts until enough have ended. A limit that is stated in code
   * is overridden until `remove`.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const report = defineJob({ type: "report" }).run(() => {});
   *
   * await using test = await createTestMill();
   * const { limits } = test.mill;
   *
   * await limits.set({ type: "report" }, { concurrency: 5 });
   * await limits.set({ tenant: "acme" }, { rate: { limit: 100, per: "1m", burst: 10 } });
   * await limits.set({ service: "bank" }, { concurrency: 5 });
   * await limits.set({ installation: true }, { concurrency: 200 });
   * await limits.set({ key: "mailbox-7" }, { rate: { limit: 10, per: "1m", burst: 2 } });
   *
   * assert.equal((await limits.list()).length, 5);
   * assert.equal(await limits.remove({ type: "report" }), true);
   * void report;
   * ```
   */
  set(target: LimitTarget, rule: LimitRule, by?: ActedBy): Promise<void>;
  /**
   * Removes what `set` has stored. If the code of the type states a limit, that one counts again.
   * Resolves with false if there was nothing to remove.
   */
  remove(target: LimitTarget, by?: ActedBy): Promise<boolean>;
  /** Lists the limits, with what is used of each and how many jobs wait. */
  list(): Promise<readonly Limit[]>;
}

export type LimitTarget =
  | { type: string }
  | { tenant: string }
  | { service: string }
  | { installation: true }
  /** A concurrency key of a tenant, by default that of the mill. It takes a rate only. */
  | { key: string; tenant?: string };

/** At least one of the two. */
export interface LimitRule {
  /** Jobs that may run at the same time. */
  concurrency?: number;
  /** Jobs that may start in a period. `burst`, by default `limit`, may start at once. */
  rate?: { limit: number; per: Duration; burst?: number };
}

/**
 * A limit. The counts are those of the queued jobs of its target; for a key, of those that wait for
 * the key.
 */
export interface Limit extends QueuedCount {
  readonly kind: "type" | "tenant" | "service" | "installation" | "key";
  /** The name of the installation is `all`. */
  readonly name: string;
  /** The tenant of a key; `null` for other kinds. */
  readonly tenant: string | null;
  readonly concurrency: number | null;
  readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null;
  /**
   * Permits that workers hold: for running jobs, and for jobs that they are about to run. In the
   * mill of a tenant, `null` for limits that other tenants share. `null` for the rate of a key.
   */
  readonly used: number | null;
  /** The time until the rate allows the next job; `null` without a rate. */
  readonly nextStartMs: number | null;
  /** `code`: the limit is stated by `defineJob`. */
  readonly owner: "code" | "operator";
  readonly setBy: string | null;
  readonly setAt: Date;
}
