/** The rule for the slots, the fairness and the ageing of lanes, in code and in a file. */
import {
  anObject,
  aWholeNumber,
  isDuration,
  isObject,
  must,
  type Rule,
  type RuleMismatch,
} from "../api/rules.ts";
import type { LaneOptions } from "../api/worker.ts";
import { weightProblem } from "./weight-rule.ts";

/** The slots of each lane, or its options. */
export type Lanes = Readonly<Record<string, number | LaneOptions>>;

const someSlots = aWholeNumber({ min: 0, max: 10_000 });

const someWeights: Rule = (value, place) => {
  const problem = weightProblem(value);
  return problem === null ? null : { place, problem: `cannot be used: ${problem}` };
};

const FAIR_OPTIONS = anObject(
  { required: {}, optional: { weights: someWeights } },
  "true, false or { weights: { acme: 3 } }",
);

const LANE = anObject(
  {
    required: { slots: someSlots },
    optional: {
      fair: (value, place) => (typeof value === "boolean" ? null : FAIR_OPTIONS(value, place)),
      ageing: must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "10m"'),
    },
  },
  "a number of slots, or an object such as { slots: 5, fair: true }",
);

/** At least one lane must have a slot. */
export const someLanes: Rule = (value, place) => {
  if (!isObject(value)) return { place, problem: "must be an object such as { general: 5 }" };
  const lanes = Object.entries(value);
  for (const [lane, given] of lanes) {
    const mismatch = laneMismatch(given, `${place}.${lane}`);
    if (mismatch !== null) return mismatch;
  }
  if (lanes.some(([, given]) => slotsOf(given) !== 0)) return null;
  return { place, problem: "must give at least one lane a slot" };
};

function laneMismatch(given: unknown, place: string): RuleMismatch | null {
  return typeof given === "number" ? someSlots(given, place) : LANE(given, place);
}

function slotsOf(given: unknown): unknown {
  return isObject(given) ? given["slots"] : given;
}
