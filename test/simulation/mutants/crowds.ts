/**
 * Planted bugs that harm one of several: jobs of a lease or an event, leases of a worker. That
 * a run learns of its end by an operator is a fault of the conformance list: few runs of a
 * simulation are long enough to be told.
 */
import type { Mutant } from "./all.ts";

const STORE = "src/store/sqlite";

export const crowdMutants: readonly Mutant[] = [
  {
    name: "a job that is to run alone starts beside others",
    file: "src/runtime/crashes/lone-runs.ts",
    now:
      "await within(clock, EMPTY_MS_MAX, emptied);\n" +
      "      if (!process.isIdle || !this.#mayStart()) {",
    planted: "void within(clock, 1, emptied);\n      if (!this.#mayStart()) {",
    breaks: "I7",
  },
  {
    name: "jobs start beside a job that runs alone",
    file: "src/runtime/crashes/lone-runs.ts",
    now: "const hasSucceeded = await this.#parts.run(claim);",
    planted: "process.reopen(this);\n      const hasSucceeded = await this.#parts.run(claim);",
    breaks: "I7",
  },
  {
    name: "every second prefetched job is forgotten",
    file: "src/runtime/lanes/prefetched-jobs.ts",
    now: "jobs: [...jobs],",
    planted: "jobs: jobs.filter((_, index) => index % 2 === 0),",
    breaks: "I21, I24",
  },
  {
    name: "every second job that starts from a prefetch is not run",
    file: "src/runtime/lanes/prefetched-jobs.ts",
    now: "next.filter(({ key }) => mayRun.has(key))",
    planted: "next.filter(({ key }, index) => index % 2 === 0 && mayRun.has(key))",
    breaks: "I21, I24",
  },
  {
    name: "every second job of an event is forgotten",
    file: "src/store/shared/events/event-rows.ts",
    now: "rows.push({ kind, jobs: jobs.slice(from, to), details: rowDetails });",
    planted:
      "const kept = jobs.slice(from, to).filter((_, index) => index % 2 === 0);\n" +
      "    rows.push({ kind, jobs: kept, details: rowDetails });",
    breaks: "I13",
  },
  {
    name: "every second lease of a heartbeat is forgotten",
    file: `${STORE}/runs/workers.ts`,
    now: '.all("leases_of_worker", { worker: id }).flatMap(runsOf)',
    planted:
      '.all("leases_of_worker", { worker: id }).filter((_, at) => at % 2 === 0).flatMap(runsOf)',
    breaks: "I8",
  },
  {
    name: "a prefetched job that goes back is charged",
    file: `${STORE}/runs/prefetch.ts`,
    now: "for (const job of others) putBack(session, job);",
    planted: "for (const job of others) putBack(session, { ...job, tries: job.tries + 1 });",
    breaks: "I7",
  },
  {
    name: "a prefetched job that goes back has crashed",
    file: `${STORE}/runs/prefetch.ts`,
    now: "for (const job of others) putBack(session, job);",
    planted: "for (const job of others) putBack(session, { ...job, crashes: job.crashes + 1 });",
    breaks: "I7",
  },
];
