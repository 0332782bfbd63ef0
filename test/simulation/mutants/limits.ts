/** Planted bugs of limits, permits and rates. */
import type { Mutant } from "./all.ts";

const PERMITS = "src/core/control/permits.ts";
const CLAIM = "src/store/sqlite/runs/claim-limits.ts";

export const limitMutants: readonly Mutant[] = [
  {
    name: "a permit is lent twice",
    file: PERMITS,
    now: "      account.lent += count;\n",
    planted: "",
    breaks: "I10",
  },
  {
    name: "a limit allows one permit more",
    file: PERMITS,
    now: "Math.min(most - (used - free), tokens)",
    planted: "Math.min(most + 1 - (used - free), tokens)",
    breaks: "I10",
  },
  {
    name: "a prefetch takes jobs beyond their limit",
    file: PERMITS,
    now: "const most = cap === null ? Infinity : prefetch ? Math.floor(cap / 2) : cap;",
    planted: "const most = cap === null || prefetch ? Infinity : cap;",
    breaks: "I10",
  },
  {
    name: "a worker returns permits that its runs use",
    file: PERMITS,
    now: "const count = account.isOwed ? account.inUse : account.held - spare;",
    planted: "const count = account.isOwed ? 0 : account.held - spare;",
    breaks: "I10",
  },
  {
    name: "the permits of a dead worker are kept",
    file: "src/store/sqlite/runs/workers.ts",
    now: "  dropPermits(session, id);\n",
    planted: "  void dropPermits;\n",
    breaks: "I10",
  },
  {
    name: "the end of a run frees no permit",
    file: "src/runtime/lanes/claim-loop.ts",
    now: "    this.#parts.permits.jobEnded(job);\n",
    planted: "",
    breaks: "I10, I21",
  },
  {
    name: "the end of a run frees the permits of the next run of its job",
    file: "src/runtime/lanes/permits.ts",
    now: "this.#limitsOf.set(key, [...others, { n, limits }]);",
    planted: "this.#limitsOf.set(key, [{ n, limits }]); void others;",
    breaks: "I10",
  },
  {
    name: "a claim takes all jobs that it has found",
    file: "src/store/sqlite/runs/claim.ts",
    now: "const admitted = limits?.admit(found) ?? found;",
    planted: "const admitted = found;",
    breaks: "I10",
  },
  {
    name: "a returned permit stays used",
    file: "src/store/sqlite/queue/limits.ts",
    now: 'sql.run("add_used", { id: limit_id, count: count - held });',
    planted: 'sql.run("add_used", { id: limit_id, count: 0 });',
    breaks: "I10",
  },
  {
    name: "the tokens of a rate come twice as fast",
    file: PERMITS,
    now: "return Math.min(burst, tokens + (passed * count) / perMs);",
    planted: "return Math.min(burst, tokens + (2 * passed * count) / perMs);",
    breaks: "I10",
  },
  {
    name: "a rate without starts gathers tokens for ever",
    file: PERMITS,
    now: "return Math.min(burst, tokens + (passed * count) / perMs);",
    planted: "return Math.min(burst * 100, tokens + (passed * count) / perMs);",
    breaks: "I10",
  },
  {
    name: "the starts of a claim take one token together",
    file: CLAIM,
    now: "tokens: tokensAt(rate, this.#now) - taken,",
    planted: "tokens: tokensAt(rate, this.#now) - Math.min(1, taken),",
    breaks: "I10",
  },
  {
    name: "a prefetch takes jobs of a rate",
    file: PERMITS,
    now: "if (rate !== null && prefetch) return 0;",
    planted: "if (rate !== null && prefetch && cap === 0) return 0;",
    breaks: "I10",
  },
];
