/** `mill.fairness`: lanes in which tenants start jobs in proportion to their weights. */
import type { ActedBy } from "./audit.ts";

export interface Fairness {
  /**
   * Makes a lane fair, for all workers. While jobs of several tenants wait in the lane, the tenants
   * start jobs in proportion to their weights, within each priority. A tenant alone uses all slots.
   * What code states is overridden until `remove`.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { fairness } = test.mill;
   *
   * await fairness.set("general", { weights: { acme: 3 } });
   * const [lane] = await fairness.list();
   * assert.deepEqual(lane?.weights, { acme: 3 });
   * assert.equal(await fairness.remove("general"), true);
   * ```
   */
  set(lane: string, rule?: FairnessRule, by?: ActedBy): Promise<void>;
  /**
   * Removes what `set` has stored. If the code of a worker states that the lane is fair, that
   * counts again. Jobs that wait keep their order. Resolves with false if there was nothing to
   * remove.
   */
  remove(lane: string, by?: ActedBy): Promise<boolean>;
  /** Lists the fair lanes. */
  list(): Promise<readonly FairLane[]>;
}

export interface FairnessRule {
  /** The weights of tenants: whole numbers from 1 to 1000. Every other tenant has weight 1. */
  weights?: Readonly<Record<string, number>>;
}

export interface FairLane {
  readonly lane: string;
  /** The weights that are stated. Every other tenant has weight 1. */
  readonly weights: Readonly<Record<string, number>>;
  /** `code`: the lane is fair by the code of a worker. */
  readonly owner: "code" | "operator";
  readonly setBy: string | null;
  readonly setAt: Date;
}
