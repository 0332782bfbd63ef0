import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RANK_START } from "../../../core/control/fairness.ts";
import { newJob, newJobs, workerInfo } from "../../../../test/support/factories.ts";
import { virtualClock, type VirtualClock } from "../../../../test/support/virtual-clock.ts";
import type { JobStore, WakeUp } from "../../store.ts";
import type { ClaimRequest } from "../../types/jobs-and-runs.ts";
import { makeSqliteStore } from "../create.ts";
import { Statements } from "../database/statements.ts";

const LONG_AGO = 1_000;
let folder: string;
let store: JobStore;
let other: JobStore;
let request: ClaimRequest;
let clock: VirtualClock;
/** How far scans have moved the monotonic clock. */
let scanMs = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "millrace-claims-"));
  // Time stands still: no rescan is due by itself.
  clock = virtualClock();
  const shifted = { ...clock, monotonic: () => clock.monotonic() + scanMs };
  store = makeSqliteStore({ path: join(folder, "jobs.db") }, { clock: shifted });
  other = makeSqliteStore({ path: join(folder, "jobs.db") }, { clock });
  await store.open();
  await other.open();
  const worker = workerInfo();
  await store.register(worker);
  request = { worker: worker.id, lanes: "any", types: ["email"], limit: 1, prefetch: false };
});

afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  await other.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the next claim", () => {
  test("does not scan again the jobs of other types that a claim has passed", async () => {
    await store.enqueue([...newJobs(20, { type: "other" }), ...newJobs(3)]);
    const [first] = (await store.claim(request)).jobs;
    const scans = vi.spyOn(Statements.prototype, "tuples");

    const { jobs } = await store.claim(request);

    expect(jobs).toHaveLength(1);
    const positions = scans.mock.calls.flatMap(([name, values]) =>
      name === "claim_candidates" ? [Reflect.get(values, "after_key")] : [],
    );
    expect(positions).toEqual([0, first?.key]);
  });

  test("does not scan them twice in the first claim, to look and to take", async () => {
    await store.enqueue([...newJobs(20, { type: "other" }), ...newJobs(3)]);
    const scans = vi.spyOn(Statements.prototype, "tuples");

    const [first] = (await store.claim(request)).jobs;

    const positions = scans.mock.calls.flatMap(([name, values]) =>
      name === "claim_candidates" ? [Reflect.get(values, "after_rank")] : [],
    );
    // To look from the beginning; to take, from other priorities and from the job that was found.
    expect(positions).toEqual([RANK_START, RANK_START, 1_000 * (first?.runAt ?? 0)]);
  });

  test("finds a more urgent job of another connection in front of that position", async () => {
    await store.enqueue(newJobs(3));
    await store.claim(request);
    const urgent = newJob({ due: { at: LONG_AGO } });
    await other.enqueue([urgent]);

    const { jobs } = await store.claim(request);

    expect(jobs.map(({ id }) => id)).toEqual([urgent.id]);
  });

  test("finds a more urgent job that was enqueued in the same commit", async () => {
    await store.enqueue(newJobs(3));
    await store.claim(request);
    const urgent = newJob({ due: { at: LONG_AGO } });

    const [, { jobs }] = await Promise.all([store.enqueue([urgent]), store.claim(request)]);

    expect(jobs.map(({ id }) => id)).toEqual([urgent.id]);
  });

  test("is preceded by a wake-up when the last one could not look everywhere", async () => {
    await store.enqueue(newJobs(1));
    await store.claim(request);
    // Other claims have used up the time for scans from the beginning.
    const slow = vi.spyOn(Statements.prototype, "tuples").mockImplementation(() => {
      scanMs += 5_000;
      return [];
    });
    await store.claim(request);
    slow.mockRestore();
    const wakeUps: WakeUp[] = [];
    store.watch((wakeUp) => wakeUps.push(wakeUp));
    const urgent = newJob({ due: { at: LONG_AGO } });
    await other.enqueue([urgent]);
    const { jobs: none } = await store.claim(request);

    await clock.advance(1_000);

    expect(none).toEqual([]);
    expect(wakeUps).toContain("ready");
    expect((await store.claim(request)).jobs.map(({ id }) => id)).toEqual([urgent.id]);
  });

  test("finds the jobs of a claim that was rolled back", async () => {
    const waiting = newJobs(3);
    await store.enqueue(waiting);
    await store.claim(request);
    vi.spyOn(Statements.prototype, "run").mockImplementationOnce(() => {
      throw new Error("planted");
    });
    await expect(store.claim(request)).rejects.toThrow("planted");

    const { jobs } = await store.claim(request);

    expect(jobs.map(({ id }) => id)).toEqual([waiting[1]?.id]);
  });
});
