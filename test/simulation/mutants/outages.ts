/** Planted bugs that only an outage of the store, or of one disk, brings to light. */
import type { Mutant } from "./all.ts";

const RESCUER = "src/runtime/maintenance/rescuer.ts";

export const outageMutants: readonly Mutant[] = [
  {
    name: "workers are rescued right after an outage",
    file: RESCUER,
    now: "const steady = steadySpan();",
    planted: "const steady = { from: -Infinity, until: Infinity };",
    breaks: "I5",
  },
  {
    name: "a rescuer takes back the jobs of its own worker",
    file: RESCUER,
    now:
      "const silent = (await store.silent(SILENT_MAX)).filter(({ id }) => id !== worker);\n" +
      "    const steady = steadySpan();",
    planted:
      "const silent = await store.silent(SILENT_MAX);\n" +
      "    const isOwn = silent.some(({ id }) => id === worker);\n" +
      "    const steady = isOwn ? { from: -Infinity, until: Infinity } : steadySpan();",
    breaks: "I5",
  },
  {
    name: "runs are not told that the lease has expired",
    file: "src/runtime/worker.ts",
    now: '        this.#running.interruptAll("expiry");\n',
    planted: "",
    breaks: "I5",
  },
];
