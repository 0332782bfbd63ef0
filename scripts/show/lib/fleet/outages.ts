/**
 * A store that accepts no writes for several leases while its workers run long jobs: a foreign
 * process holds the write lock of the file, the disk of the file is full, or PostgreSQL is stopped.
 *
 * Each living worker has a run that ignores its signal and ends after the outage, one that ignores
 * its signal and ends during the outage, and one that obeys its signal. One more worker is killed
 * during the outage: its runs must start again elsewhere.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../../../../test/support/postgres.ts";
import { until } from "../until.ts";
import { startChild } from "./children.ts";
import { Fleet, type Ending } from "./fleet.ts";

export type OutageFault = "write lock" | "full disk" | "stopped server";

export interface OutageOptions {
  readonly fault: OutageFault;
  /** The length of the outage. */
  readonly leases: number;
  readonly leaseMs: number;
  /** Workers that live through the outage. */
  readonly workers: number;
  /** The file, or the server, and its address. */
  readonly place:
    | { readonly file: string }
    | { readonly server: PostgresServer; readonly url: string };
}

export interface OutageFigures {
  /** Second starts of runs that ignored their signal, on workers that lived. */
  readonly secondStarts: number;
  /** Second starts of runs that obeyed their signal, on workers that lived. */
  readonly restarts: number;
  /** Second starts of runs whose worker was killed. */
  readonly takeovers: number;
  readonly jobs: number;
  /** Jobs with exactly one end that the store accepted. */
  readonly endedOnce: number;
  readonly interrupted: number;
  /** Crashes charged to jobs whose worker lived. */
  readonly crashes: number;
  /** Workers that warned, by the cause that they named. */
  readonly warnings: Readonly<Record<string, number>>;
  readonly findings: readonly string[];
}

const LOCK_HOLDER = new URL("../../../chaos/lock.child.ts", import.meta.url);
const START_MS_MAX = 30_000;
const CHUNK = Buffer.alloc(64 * 1024);
const CRUMB = Buffer.alloc(512);
const REFILL_MS = 10;

export async function playOutage(options: OutageOptions): Promise<OutageFigures> {
  const { leases, leaseMs, workers, place } = options;
  const outageMs = leases * leaseMs;
  const url = "file" in place ? `sqlite:${place.file}` : place.url;
  const work = { lanes: { general: KINDS.length }, lease: leaseMs, poll: 50 };
  await using fleet = await Fleet.open({ name: "outages", url, workers: workers + 1, work });
  const victim = fleet.workers[workers]!;
  const kinds = await startRuns(fleet, workers + 1, outageMs, leaseMs);

  const struckAt = Date.now();
  const killed = sleep(outageMs / 2).then(() => fleet.kill(victim));
  await strike(fleet, options, outageMs);
  await killed;
  await fleet.drain();
  fleet.workers.splice(workers, 1);
  const warnings = warningsIn(fleet.path("words"), struckAt);
  return { ...figuresOf(fleet, await fleet.finish(), kinds, victim.pid), warnings };
}

const KINDS = ["late", "early", "obedient"] as const;
type Kind = (typeof KINDS)[number];

/** One run of each kind on every worker. Returns the kinds by job. */
async function startRuns(
  fleet: Fleet,
  workers: number,
  outageMs: number,
  leaseMs: number,
): Promise<ReadonlyMap<string, Kind>> {
  const lateMs = outageMs + 3 * leaseMs;
  const lengths: Record<Kind, number> = { late: lateMs, early: outageMs / 2, obedient: lateMs };
  const kinds = new Map<string, Kind>();
  // The long ones first: a worker that takes more of them has no slot left for the others.
  for (const kind of KINDS.toSorted((a, b) => lengths[b] - lengths[a])) {
    const act = { kind: "wait", ms: lengths[kind], heedsAbort: kind === "obedient" } as const;
    const ids = await fleet.place(Array.from({ length: workers }, () => ({ act })));
    for (const id of ids) kinds.set(id, kind);
  }
  const expected = workers * KINDS.length;
  await until("all runs have started", START_MS_MAX, () => startsIn(fleet).length >= expected);
  return kinds;
}

function startsIn(fleet: Fleet) {
  return fleet.ledger.lines().filter(({ what }) => what === "start");
}

async function strike(
  fleet: Fleet,
  { fault, place }: OutageOptions,
  outageMs: number,
): Promise<void> {
  if ("server" in place) {
    await place.server.stop("fast");
    await sleep(outageMs);
    await place.server.start();
    return;
  }
  if (fault === "full disk") {
    await fillDisk(place.file, outageMs);
    return;
  }
  const settings = { path: place.file, ms: outageMs };
  await startChild({ program: LOCK_HOLDER, settings, log: fleet.path("words") }).ended;
}

/** Fills the disk of the file, and takes at once what a checkpoint gives back. */
async function fillDisk(file: string, outageMs: number): Promise<void> {
  const ballast = join(dirname(file), "ballast");
  // Otherwise the space of old frames in the log would take new ones.
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  try {
    fill(ballast);
    const endsAt = performance.now() + outageMs;
    while (performance.now() < endsAt) {
      await sleep(REFILL_MS);
      fill(ballast);
    }
  } finally {
    rmSync(ballast, { force: true });
    database.close();
  }
}

function fill(path: string): void {
  const file = openSync(path, "a");
  for (const piece of [CHUNK, CRUMB]) while (fits(file, piece));
  closeSync(file);
}

function fits(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch {
    return false;
  }
}

function figuresOf(
  fleet: Fleet,
  { store, findings }: Ending,
  kinds: ReadonlyMap<string, Kind>,
  victim: number,
): Omit<OutageFigures, "warnings"> {
  const starts = Map.groupBy(startsIn(fleet), ({ job }) => job);
  const counts = { secondStarts: 0, restarts: 0, takeovers: 0, crashes: 0 };
  let [interrupted, endedOnce] = [0, 0];
  for (const [job, kind] of kinds) {
    const ofJob = starts.get(job) ?? [];
    const outcomes = (store.get(job)?.attempts ?? []).map(({ outcome }) => outcome);
    const wasKilled = ofJob[0]?.pid === victim;
    const again = Math.max(0, ofJob.length - 1);
    if (wasKilled) counts.takeovers += again;
    else if (kind === "obedient") counts.restarts += again;
    else counts.secondStarts += again;
    if (!wasKilled) counts.crashes += outcomes.filter((outcome) => outcome === "crashed").length;
    interrupted += outcomes.filter((outcome) => outcome === "interrupted").length;
    if (outcomes.filter((outcome) => outcome === "succeeded").length === 1) endedOnce += 1;
  }
  return {
    ...counts,
    jobs: kinds.size,
    endedOnce,
    interrupted,
    findings: findings.map(({ kind, job, why }) => `${kind}: ${job}: ${why}`),
  };
}

interface Warning {
  readonly time: string;
  readonly worker_id: string;
  readonly cause: string;
}

/** How many workers warned since then that their lease has expired, by the first cause. */
function warningsIn(path: string, since: number): Readonly<Record<string, number>> {
  const found = new Map<string, string>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.includes("LEASE_EXPIRED")) continue;
    const { time, worker_id: worker, cause }: Warning = JSON.parse(line);
    if (Date.parse(time) >= since && !found.has(worker)) found.set(worker, cause);
  }
  const counts: Record<string, number> = {};
  for (const cause of found.values()) counts[cause] = (counts[cause] ?? 0) + 1;
  return counts;
}
