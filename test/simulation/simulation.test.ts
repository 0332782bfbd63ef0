import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { planOf } from "./plan.ts";
import { regressions } from "./regressions.ts";
import { simulate } from "./run.ts";

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);
const SCRIPT = new URL("../../scripts/simulate.ts", import.meta.url).pathname;
const PLANT = new URL("./plant.ts", import.meta.url).href;

/** Bugs that few seeds bring to light; `npm run simulate -- --mutants` plants them all. */
const QUICK = [
  "a job is due a second early",
  "crashes are not counted",
  "a claim leaves what has crashed before in its place",
  "any newer lease will do",
  "prune forgets the retention",
];

describe("a simulated fleet", () => {
  test.each(SEEDS)("keeps every promise under the faults of seed %i", async (seed) => {
    const { violations } = await simulate(planOf(seed));

    expect(violations).toEqual([]);
  });

  test("does the same again from the same seed, and something else from another", async () => {
    const [first, again, other] = [
      await simulate(planOf(7)),
      await simulate(planOf(7)),
      await simulate(planOf(8)),
    ];

    expect(again.hash).toBe(first.hash);
    expect(other.hash).not.toBe(first.hash);
  });

  test.each(regressions)("no longer breaks seed $seed: $was", async ({ seed, actions }) => {
    const plan = planOf(seed);

    const { violations } = await simulate({ ...plan, actions: actions ?? plan.actions });

    expect(violations).toEqual([]);
  });
});

describe("the simulation", () => {
  test.each(QUICK)("sees the planted bug: %s", (name) => {
    expect(mutants.map((mutant) => mutant.name)).toContain(name);

    expect(outputWith(name)).toMatch(/^seed \d+ breaks/m);
  });
});

/** What a campaign says that ends with the first violation. */
function outputWith(mutant: string): string {
  const args = ["--conditions=source", "--import", PLANT, SCRIPT, "--seeds", "1..20", "--first"];
  const env = { ...process.env, MILLRACE_MUTANT: mutant };
  try {
    return execFileSync(process.execPath, args, { env, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    if (error instanceof Error && "stdout" in error) return String(error.stdout);
    throw error;
  }
}
