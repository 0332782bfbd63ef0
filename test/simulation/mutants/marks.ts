/** Planted bugs of jobs that are marked as started and wait for a slot. */
import type { Mutant } from "./all.ts";

const LANES = "src/runtime/lanes";
const WORKER = "src/runtime/worker.ts";

export const markMutants: readonly Mutant[] = [
  {
    name: "a marked job is started after its cancel",
    file: WORKER,
    now: "      this.#lanes.dropMarked({ key, n }, outcome);\n",
    planted: "",
    breaks: "I8",
  },
  {
    name: "a marked job is started after its end by an operator",
    file: WORKER,
    now: "      this.#lanes.dropMarked(run, null);\n",
    planted: "",
    breaks: "I8",
  },
  {
    name: "a marked job that is returned stays started",
    file: `${LANES}/marked-jobs.ts`,
    now: '      this.#parts.settleUnbegun(lease, job, { type: "interrupted" });\n',
    planted: "      void lease;\n      void job;\n",
    breaks: "I21, I24",
  },
  {
    name: "a marked job takes a slot that is not free",
    file: `${LANES}/lane.ts`,
    now: "while (this.free > 0 && isOpen() && hasRoom()) {",
    planted: "while (this.#running <= this.#parts.slots && isOpen() && hasRoom()) {",
    breaks: "I22",
  },
];
