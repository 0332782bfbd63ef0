import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";
import { mutants } from "./mutants/all.ts";
import { plantedSource } from "./mutants/plant.ts";
import { planOf } from "./plan/plan.ts";
import { regressions } from "./regressions.ts";
import { simulate } from "./run.ts";
import { shrink } from "./shrink.ts";

const SEEDS = Array.from(
  { length: sized({ smoke: 5, short: 60, full: 100 }) },
  (_, index) => index + 1,
);
const SCRIPT = new URL("../../scripts/simulate.ts", import.meta.url).pathname;
const PLANT = new URL("./mutants/load-mutant.ts", import.meta.url).href;

/** Bugs that few seeds bring to light; `npm run simulate -- --mutants` plants them all. */
const FOUND_SOON = [
  "a job is due a second early",
  "one relaxed write relaxes the whole commit",
  "a claim leaves what has crashed before in its place",
  "prune forgets the retention",
  "urgent jobs wait in line",
  "a type that is paused is claimed",
];

describe("a simulated fleet", () => {
  test.each(SEEDS)("keeps every promise under the faults of seed %i", async (seed) => {
    const { violations } = await simulate(planOf(seed));

    expect(violations).toEqual([]);
  });

  test.each(sized({ smoke: [3], short: [3, 7], full: [3, 7] }))(
    "does the same again from seed %i",
    async (seed) => {
      const [first, again] = [await simulate(planOf(seed)), await simulate(planOf(seed))];

      expect(again.hash).toBe(first.hash);
    },
  );

  test("does something else from another seed", async () => {
    const [first, other] = [await simulate(planOf(7)), await simulate(planOf(8))];

    expect(other.hash).not.toBe(first.hash);
  });

  test.each(regressions)("no longer breaks: $was", async ({ plan }) => {
    const { violations } = await simulate(plan);

    expect(violations).toEqual([]);
  });
});

describe("the simulation", () => {
  test.each(mutants)("can plant: $name", (mutant) => {
    expect(() => plantedSource(mutant)).not.toThrow();
  });

  test.each(FOUND_SOON.slice(0, sized({ smoke: 1, short: 6, full: 6 })))(
    "sees the planted bug: %s",
    (name) => {
      expect(mutants.map((mutant) => mutant.name)).toContain(name);

      expect(outputWith(name)).toMatch(/^seed \d+ breaks/m);
    },
  );

  test("leaves a plan as it is that breaks nothing", async () => {
    const plan = planOf(1);

    expect(await shrink(plan, () => {})).toBe(plan);
  });
});

/** The output of a campaign that ends with the first violation. */
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
