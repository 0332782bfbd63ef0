/** A sample of `scripts/show/http-fuzz.ts`, and the faults that a run must find. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLANTS, type Plant } from "../../scripts/show/lib/http-fuzz/plants.ts";
import { fuzz, type FuzzReport } from "../../scripts/show/lib/http-fuzz/run.ts";

const REQUESTS = 2_000;
const SLOW_MS = 5_000;
const EXPECTED: Readonly<Record<Plant, RegExp>> = {
  "500": /^500: GET .*\/units/,
  leak: /^something of (acme|globex) in the answer 200 to GET .*\/progress/,
  hang: /^no answer within 2000 ms: GET .*\/logs/,
};

test("no drawn request gets an answer that it must not get", async () => {
  const { findings, reached, counts } = await fuzzed({ requests: REQUESTS, slowMs: SLOW_MS });

  expect(findings).toEqual([]);
  expect(reached).toBeGreaterThan(REQUESTS * 0.3);
  expect(counts.size).toBeGreaterThan(40);
});

test.each(PLANTS)("the planted fault %s is found", async (plant) => {
  const { findings } = await fuzzed({ requests: 3 * REQUESTS, slowMs: 2_000, plant });

  expect(findings.filter((finding) => EXPECTED[plant].test(finding))).not.toEqual([]);
});

async function fuzzed(options: {
  readonly requests: number;
  readonly slowMs: number;
  readonly plant?: Plant;
}): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-fuzz-"));
  try {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    return await fuzz({ url, seed: 1, plant: null, ...options });
  } finally {
    await rm(folder, { recursive: true });
  }
}
