/** Two verbs that may meet, what they find at the beginning, and what must come of it. */
import type { JobStore } from "../../src/store/store.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import type { Outcome } from "./judgements.ts";
import type { Scene } from "./scenes.ts";
import type { Verb } from "./verbs.ts";

export interface Pair {
  readonly name: string;
  prepare(db: PostgresTestStore): Promise<Scene>;
  left(store: JobStore, scene: Scene): Promise<unknown>;
  right(store: JobStore, scene: Scene): Promise<unknown>;
  /** What is wrong with the answers. */
  judge(outcome: Outcome): Promise<readonly string[]>;
}

export function pair(
  name: string,
  prepare: Pair["prepare"],
  left: Verb,
  right: Verb,
  judge: (outcome: Outcome) => readonly string[] | Promise<readonly string[]>,
): Pair {
  return { name, prepare, left, right, judge: async (outcome) => judge(outcome) };
}
