/**
 * Outages of three leases under real processes: a sample of `scripts/show/outages.ts`. Two workers
 * live through the outage, and one is killed meanwhile.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Fleet } from "../../scripts/show/lib/fleet/fleet.ts";
import { playOutage, type OutageFigures } from "../../scripts/show/lib/fleet/outages.ts";
import { startPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "./children.ts";

const SIZE = { leases: 3, leaseMs: 1_000, workers: 2 };

describe("an outage of three leases", () => {
  test("by a foreign write lock repeats no run of a worker that lives", async () => {
    using folder = temporaryFolder();
    const place = { file: join(folder.path, "jobs.db") };

    expectSound(await playOutage({ ...SIZE, fault: "write lock", place }));
  });

  test("by a stopped PostgreSQL repeats no run of a worker that lives", async () => {
    await using server = await startPostgres({ durable: false });
    const place = { server, url: server.url };

    expectSound(await playOutage({ ...SIZE, fault: "stopped server", place }));
  });
});

describe("an event loop that is blocked for longer than a lease", () => {
  test("does not take the lease for expired that its thread has renewed", async () => {
    const leaseMs = 2_000;
    const work = { lanes: { general: 2 }, lease: leaseMs };
    await using fleet = await Fleet.open({ name: "blocked", workers: 1, work });
    await fleet.place([
      { act: { kind: "wait", ms: 3 * leaseMs, heedsAbort: true } },
      { act: { kind: "spin", ms: 2.5 * leaseMs } },
    ]);
    await fleet.drain();

    const { findings, successions } = await fleet.finish();

    expect({ findings, successions }).toEqual({ findings: [], successions: [] });
    expect(readFileSync(fleet.path("words"), "utf8")).not.toContain("LEASE_EXPIRED");
  });
});

function expectSound({ jobs, warnings, ...figures }: OutageFigures): void {
  expect(figures).toMatchObject({ secondStarts: 0, crashes: 0, endedOnce: jobs, findings: [] });
  const warned = Object.values(warnings).reduce((sum, count) => sum + count, 0);
  expect(warned).toBeGreaterThanOrEqual(SIZE.workers);
}
