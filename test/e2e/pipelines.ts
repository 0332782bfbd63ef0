/**
 * Samples of the shows about pipelines: real processes, judged by figures. Each store has a
 * file of its own, so that they run at the same time.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";

const run = promisify(execFile);

/** How much of each show; the full campaign runs the shows themselves. */
const SAMPLE = {
  kills: ["--from", "42", "--every", "1000"],
  rounds: 1,
  cancels: 10,
  deploys: { every: 30, ends: 1 },
  commits: 2,
  units: 50,
};
const SHORT = {
  kills: ["--every", "23"],
  rounds: 2,
  cancels: 30,
  deploys: { every: 6, ends: 5 },
  commits: 5,
  units: 200,
};
const size = sized({ smoke: SAMPLE, short: SHORT, full: SHORT });

const SHOWS = join(import.meta.dirname, "..", "..", "scripts", "show");

export function pipelinesOn(store: "sqlite" | "postgres"): void {
  describe(`a pipeline on ${store}`, () => {
    test("survives kills before and after verbs, and repeats nothing that is stored", async () => {
      const told = await show("pipeline-kills.ts", store, ...size.kills);

      expect(told).toMatch(new RegExp(`${store}: [1-9]\\d* kills`));
      expect(told).toContain("0 violations");
    });

    test("counts the units that four processes move at the same time (000-24)", async () => {
      const told = await show("unit-movers.ts", store, "--rounds", `${size.rounds}`);

      // Three units of each of the hundred movers, and four of all; fourteen moves by each.
      const [, , , moves, , planned, running, completed, failed, wrong] = rowOf(told, store);
      expect(moves).toBe(size.rounds * 100 * 14);
      const units = planned! + running! + completed! + failed!;
      expect(units).toBe(size.rounds * (100 * 3 + 4));
      expect(wrong).toBe(0);
    });

    test("is cancelled once, and with it the phases that are left (001-29, 001-30)", async () => {
      const told = await show("cancel-between.ts", store, "--cancels", `${size.cancels}`);

      const [, before, between, within, late] = rowOf(told, "all");
      expect(between).toBeGreaterThan(0);
      expect(before! + between! + within! + late!).toBe(size.cancels);
      expect(told).toContain("0 violations");
    });

    test("goes on as it is stated when a deploy has changed it (C-19)", async () => {
      const { every, ends } = size.deploys;
      const told = await show("changed-deploys.ts", store, "--every", `${every}`);

      expect(told.match(/^(killed|stopped)/gm)).toHaveLength(ends);
      expect(told).toContain("0 differences from what is stated");
    });

    test("tells the feed of transactions that commit late", async () => {
      const told = await show("late-commits.ts", store, "--rounds", `${size.commits}`);

      const [, rounds, reversed, refused] = rowOf(told, store);
      expect(rounds).toBe(size.commits);
      expect(store === "postgres" ? reversed : refused).toBe(size.commits);
    });

    test("writes one row for each unit, and ends together that come together", async () => {
      const args = ["--units", `${size.units}`, "--only", "1"];

      const told = await show("ten-thousand-units.ts", store, ...args);

      const [, units, , , , records, moves, , , rows] = rowOf(told, store);
      // Each unit is planned and ends. Those that do not start with the plan also start by a move.
      const atOnce = 10;
      expect([units, moves, rows]).toEqual([size.units, 3 * size.units - atOnce, size.units]);
      // One call for the start of all, and one for the ends of those side by side.
      expect(records).toBeLessThanOrEqual(size.units);
    });
  });
}

/** What a show prints. It ends with an error when a promise is broken. */
async function show(name: string, store: string, ...options: readonly string[]): Promise<string> {
  const args = ["--conditions=source", join(SHOWS, name), "--store", store, ...options];
  const { code, stdout, stderr } = await run(process.execPath, args).then(
    (done) => ({ ...done, code: 0 }),
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  );
  expect(code, `${name} printed:\n${stdout}${stderr}`).toBe(0);
  expect(stdout).toMatch(/^sound$/m);
  return stdout;
}

/** The numbers in the first row of a table that begins with this word. */
function rowOf(told: string, word: string): readonly number[] {
  const lines = told.split("\n").filter((line) => line.startsWith(`${word} `));
  return (lines[0] ?? "").split(/ {2,}/).map(Number);
}
