/** Plans that once broke an invariant, as small as shrinking made them, kept for ever. */
import type { Plan } from "./plan/plan.ts";

export interface Regression {
  /** What was wrong, in one sentence. */
  readonly was: string;
  /** The whole plan: a seed means something else as soon as plans are drawn differently. */
  readonly plan: Plan;
}

export const regressions: readonly Regression[] = [
  {
    was: "a claim that was committed and answered with an error stayed held while its worker lived",
    plan: {
      seed: 68,
      leaseMs: 3000,
      workers: 3,
      workersPerProcess: 1,
      slots: 3,
      batch: 100,
      graceMs: 0,
      crowd: 30,
      runMs: 300,
      pollMs: 100,
      behaviours: ["hang", "ok", "ok"],
      retention: "preset",
      lengthMs: 20000,
      actions: [
        {
          atMs: 5854,
          kind: "commitLost",
          dice: [0.353, 0.578, 0.399, 0.88, 0.622, 0.253, 0.819, 0.353, 0.672, 0.595, 0.046, 0.16],
        },
        {
          atMs: 5866,
          kind: "enqueueMany",
          dice: [
            0.856, 0.829, 0.846, 0.889, 0.048, 0.809, 0.894, 0.854, 0.576, 0.798, 0.681, 0.321,
          ],
        },
      ],
    },
  },
];
