/**
 * Watches the database: checks every piece of every transaction, keeps the last committed snapshot,
 * and makes commits fail.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  checkBeats,
  checkState,
  checkStep,
  type Report,
  type Rules,
  type Step,
} from "./invariants.ts";
import { countFlowPaths } from "./flow-paths.ts";
import { checkEvents, type ExpectedEvent } from "./feed-events.ts";
import { noteHolders, type Wanted } from "./flows.ts";
import { checkOrder } from "./order.ts";
import { LoneRuns } from "./lone-runs.ts";
import { Outages } from "./outages.ts";
import { checkSchedules, SlotJobs } from "./schedules.ts";
import { checkBreakers } from "./control/breakers.ts";
import { LimitChecks } from "./control/limits.ts";
import {
  eventsAfter,
  finalState,
  nextSnapshot,
  noteTouched,
  snapshotText,
  takeSnapshot,
  type Snapshot,
  type Touched,
} from "./snapshot.ts";
import { plainPrepare, sqliteError, type SqliteHooks } from "../fleet/sqlite-hooks.ts";
import type { Process, World } from "../fleet/world.ts";

const BUSY = 5;
const IO_ERROR = 10;
const FULL = 2;

/** The faults of a process's disk. */
export interface Disk {
  busyUntil: number;
  /** Until then nothing is read or written. */
  downUntil: number;
  /** How many commits fail: rolled back, or committed with a lost answer. */
  fails: number;
  loses: number;
  /** The disk has failed before, so the process may leave rows behind. */
  hasFailed: boolean;
}

/** The files as they would be after a loss of power, and what they hold. */
interface Image {
  readonly files: readonly (readonly [path: string, content: Uint8Array])[];
  readonly snapshot: Snapshot;
}

/** A connection, its process, and what it has written in the current piece. */
interface Connection {
  readonly owner: Process;
  readonly touched: Touched;
  isSynced: boolean;
}

interface WatchParts {
  readonly world: World;
  readonly path: string;
  readonly rules: Rules;
  readonly report: Report;
  readonly count: (name: string) => void;
  /** Whether the power may be lost; if not, no image is kept. */
  readonly isPowerAtRisk: () => boolean;
}

export class Watch implements SqliteHooks {
  committed: Snapshot;
  /** Which process is which worker, by the hex of its id. */
  readonly workers = new Map<string, Process>();
  /** Ids of jobs that retention has removed. */
  readonly pruned = new Set<string>();
  /** The dependencies of jobs, by the hex of their ids. */
  readonly wanted = new Map<string, Wanted>();
  /** The final states of removed jobs. */
  readonly #ends = new Map<string, number>();
  /** Called once, when a commit is made that is not synced. */
  onRelaxed: (() => void) | null = null;
  readonly outages: Outages;
  readonly loneRuns: LoneRuns;
  readonly limits: LimitChecks;
  /** Called with each commit. */
  onCommit: (before: Snapshot, after: Snapshot) => void = () => {};
  readonly #slotJobs = new SlotJobs();
  readonly #parts: WatchParts;
  readonly #connections = new Map<DatabaseSync, Connection>();
  readonly #disks = new Map<Process, Disk>();
  readonly #beats = new Map<string, number>();
  #working: Snapshot | null = null;
  #expected: ExpectedEvent[] = [];
  /** Verbs that share the present commit, or the last one. */
  #pieces = 0;
  #fenceMax = 0;
  readonly #secrets = new Set<string>();
  /** The leases of the last commit. */
  #freshLeases: readonly number[] = [];
  /** Set while commits that were not synced would be lost with the power. */
  #image: Image | null = null;
  /** The step in which the last commit was made that was not synced. */
  #relaxedAt = -1;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.outages = new Outages({ ...parts, leaseMs: parts.rules.leaseMs });
    this.loneRuns = new LoneRuns({ report: parts.report, committed: () => this.committed });
    this.limits = new LimitChecks(parts);
    this.committed = this.#readFile();
  }

  disk(process: Process): Disk {
    const known = this.#disks.get(process);
    if (known !== undefined) return known;
    const disk = { busyUntil: 0, downUntil: 0, fails: 0, loses: 0, hasFailed: false };
    this.#disks.set(process, disk);
    return disk;
  }

  /** All disks are well again. */
  heal(): void {
    this.outages.heal();
    this.limits.heal();
    this.onRelaxed = null;
    for (const disk of this.#disks.values()) {
      Object.assign(disk, { busyUntil: 0, downUntil: 0, fails: 0, loses: 0 });
    }
  }

  /** The process is dead: the system closes its files. */
  close(process: Process): void {
    for (const [database, { owner }] of this.#connections) {
      if (owner !== process) continue;
      this.#connections.delete(database);
      if (database.isOpen) database.close();
    }
  }

  /** Unsynced commits are lost. Every process must be dead. */
  losePower(): void {
    const { path, count, report } = this.#parts;
    const image = this.#image;
    this.#image = null;
    if (image !== null) {
      for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
      for (const [file, content] of image.files) writeFileSync(file, content);
      count("power loss with unsynced writes");
    }
    const found = this.#readFile();
    const expected = image?.snapshot ?? this.committed;
    if (snapshotText(found) !== snapshotText(expected)) {
      report("I18", "after a loss of power the store is not what was synced");
    }
    this.committed = found;
    this.#slotJobs.restore(found);
    this.limits.forgetStarts();
  }

  /** The file agrees with the snapshot that was kept piece by piece. */
  compare(): void {
    if (snapshotText(this.#readFile()) === snapshotText(this.committed)) return;
    this.#parts.report("I18", "the file holds something else than what was committed");
  }

  /** Whether what was committed in this step would survive a loss of power. */
  get isDurable(): boolean {
    return this.#relaxedAt !== this.#parts.world.steps;
  }

  /** Whether the last commit was that of one verb alone, so that its answer describes it. */
  get isAlone(): boolean {
    return this.#pieces <= 1;
  }

  /** Whether a lease came into being with the last commit. */
  isFresh(lease: number): boolean {
    return this.#freshLeases.includes(lease);
  }

  opened(database: DatabaseSync): void {
    const owner = this.#parts.world.current;
    if (owner === null) return;
    const touched = noteTouched(database);
    this.#connections.set(database, { owner, touched, isSynced: isSynced(database) });
  }

  syncs(database: DatabaseSync): void {
    const connection = this.#connections.get(database);
    if (connection !== undefined) connection.isSynced = isSynced(database);
  }

  read(database: DatabaseSync): void {
    const owner = this.#connections.get(database)?.owner;
    if (owner !== undefined) this.#refuseIfDown(owner, "reads");
  }

  begin(database: DatabaseSync): void {
    const connection = this.#connections.get(database);
    if (connection !== undefined) {
      const { busyUntil } = this.disk(connection.owner);
      this.#refuseIfDown(connection.owner, "writes");
      if (busyUntil > this.#parts.world.elapsedMs) {
        this.#parts.count("busy, tried again");
        throw sqliteError(BUSY, "database is locked");
      }
      connection.touched.clear();
    }
    this.#working = this.committed;
    this.#expected = [];
    this.#pieces = 0;
  }

  piece(database: DatabaseSync): void {
    this.#pieces += 1;
    this.#readInside(database);
  }

  #readInside(database: DatabaseSync): void {
    const connection = this.#connections.get(database);
    const before = this.#working;
    if (before === null || connection === undefined || connection.touched.size === 0) return;
    const { owner, touched } = connection;
    const { after, changed, progressed } = nextSnapshot(database, before, touched);
    touched.clear();
    // Later pieces of the same transaction find these jobs final as well.
    for (const key of changed) {
      const [job, state] = [before.jobs.get(key), finalState(before, key)];
      if (job !== undefined && state !== null && !after.jobs.has(key))
        this.#ends.set(job.id, state);
    }
    this.#step(owner, {
      before,
      after,
      changed,
      progressed,
      wanted: this.wanted,
      ends: this.#ends,
      nowMs: owner.clock.now(),
      silentMs: (worker) => this.#parts.world.elapsedMs - (this.#beats.get(worker) ?? -Infinity),
    });
    this.#working = after;
  }

  commit(database: DatabaseSync, run: () => unknown): unknown {
    const connection = this.#connections.get(database);
    if (connection === undefined || this.#working === null) return run();
    this.#readInside(database);
    const disk = this.disk(connection.owner);
    if (disk.fails > 0) {
      disk.fails -= 1;
      disk.hasFailed = true;
      this.#parts.count("commit failed");
      throw sqliteError(IO_ERROR, "planted: disk I/O error, nothing is written");
    }
    if (connection.isSynced) this.#image = null;
    else {
      if (this.#parts.isPowerAtRisk()) this.#image ??= this.#keep();
      this.#relaxedAt = this.#parts.world.steps;
      this.onRelaxed?.();
      this.onRelaxed = null;
    }
    const answer = run();
    this.#adopt(database, this.#working);
    if (disk.loses === 0) return answer;
    disk.loses -= 1;
    disk.hasFailed = true;
    this.#parts.count("commit done, and an error answered");
    throw sqliteError(IO_ERROR, "planted: disk I/O error, all is written");
  }

  rolledBack(): void {
    this.#working = null;
  }

  #refuseIfDown(owner: Process, what: "reads" | "writes"): void {
    const disk = this.disk(owner);
    if (this.outages.isDown(what)) {
      disk.hasFailed = true;
      throw this.outages.refusal();
    }
    if (disk.downUntil <= this.#parts.world.elapsedMs) return;
    disk.hasFailed = true;
    this.#parts.count("disk did not answer");
    throw sqliteError(IO_ERROR, "planted: disk I/O error, nothing is written");
  }

  /** One step inside a transaction. */
  #step(owner: Process, step: Step): void {
    const { rules, report } = this.#parts;
    const { before, after } = step;
    noteHolders(step, this.wanted, this.#parts.count);
    if (before.workers !== after.workers) this.#checkWorkers(owner, step);
    this.#expected.push(...checkStep(step, rules, report));
    checkOrder(step, report);
    checkSchedules(step, report, this.#parts.count);
    checkBreakers(step, report, this.#parts.count);
    this.limits.check(step);
    checkState(after, step.changed, rules, report);
    this.outages.check(step, this.workers);
    this.#countRare(step);
  }

  #checkWorkers(owner: Process, { before, after, nowMs }: Step): void {
    const { rules, report } = this.#parts;
    checkBeats(before.workers, after.workers, nowMs + rules.leaseMs, report);
    for (const [id, { until }] of before.workers) {
      // Only a worker itself may deregister before its lease expires.
      const isOwn = this.workers.get(id) === owner;
      if (after.workers.has(id) || isOwn || until <= nowMs) continue;
      report("I5", `worker ${id} was given up while its lease stood`);
    }
    for (const [id, { until }] of after.workers) {
      const isLeaving = until === nowMs && before.workers.get(id)?.until !== until;
      if (isLeaving) this.#parts.count("left while it held something");
    }
  }

  /** Adopts the committed snapshot, and checks its events in the feed. */
  #adopt(database: DatabaseSync, working: Snapshot): void {
    const { world, report } = this.#parts;
    const rows = eventsAfter(database, this.committed.lastEvent);
    checkEvents(this.#expected, rows, this.committed.lastEvent, report);
    this.#checkFences(this.committed, working);
    this.#slotJobs.adopt(this.committed, working, report);
    this.limits.adopt(this.committed, working);
    this.onCommit(this.committed, working);
    for (const [id, { beats }] of working.workers) {
      const isBeat = this.committed.workers.get(id)?.beats !== beats;
      if (isBeat) this.#beats.set(id, world.elapsedMs);
    }
    for (const [kind, job] of this.#expected) if (kind === 7) this.#forget(String(job));
    this.committed = { ...working, lastEvent: rows.at(-1)?.position ?? working.lastEvent };
    this.#working = null;
    this.#expected = [];
  }

  #forget(id: string): void {
    this.pruned.add(id);
  }

  #checkFences(before: Snapshot, after: Snapshot): void {
    const { report } = this.#parts;
    const fresh = [...after.leases.values()].filter(({ number }) => !before.leases.has(number));
    this.#freshLeases = fresh.map(({ number }) => number);
    for (const { number, secret } of fresh) {
      if (number <= this.#fenceMax) report("I3", `lease ${number} was given out before`);
      if (this.#secrets.has(secret)) report("I3", `the secret of ${number} was used before`);
      this.#fenceMax = Math.max(this.#fenceMax, number);
      this.#secrets.add(secret);
    }
  }

  #countRare(step: Step): void {
    const { before, after, changed } = step;
    const { rules, count } = this.#parts;
    countFlowPaths(step, count);
    for (const key of changed) {
      const known = before.attempts.get(key)?.length ?? 0;
      for (const { outcome, state, crashes } of after.attempts.get(key)?.slice(known) ?? []) {
        if (outcome === 4) count("rescued after its lease had expired");
        if (outcome === 4 && state === 6 && crashes >= rules.crashCap) count("crash cap reached");
        if (outcome === 3) count("timed out");
        if (outcome === 7) count("snoozed");
        if (outcome === 6) count("interrupted");
        if (outcome === 5 && before.asked.has(key)) count("running job cancelled");
        if (outcome === 6 && state === 7) count("given back, and cancelled instead");
      }
      const isUnstarted = before.held.get(key)?.[0]?.start === null;
      if (isUnstarted && after.places.has(key)) count("buffered job went back");
      if (isUnstarted && before.asked.has(key) && !after.held.has(key)) {
        count("buffered job cancelled");
      }
      const [was, is] = [before.places.get(key)?.[0]?.place, after.places.get(key)?.[0]?.place];
      const gate = after.places.get(key)?.[0]?.gate ?? 0;
      if (is === "blocked" && was === "ready" && gate > 0) count("held behind a gate");
    }
    for (const { name, until } of before.gates.values()) {
      if (until !== 0 && !after.gates.has(name)) count("pause ended by itself");
    }
    if (after.jobs.size < before.jobs.size) count("pruned");
  }

  /** Reads the file on a new connection. */
  #readFile(): Snapshot {
    const { path, report } = this.#parts;
    const database = new DatabaseSync(path);
    try {
      const verdict = plainPrepare(database, "PRAGMA integrity_check").get()?.["integrity_check"];
      if (verdict !== "ok") report("I18", `integrity_check says ${String(verdict)}`);
      return takeSnapshot(database);
    } finally {
      database.close();
    }
  }

  #keep(): Image {
    const { path } = this.#parts;
    const files = ["", "-wal"].filter((end) => existsSync(`${path}${end}`));
    return {
      files: files.map((end) => [`${path}${end}`, contentOf(`${path}${end}`, end)] as const),
      snapshot: this.committed,
    };
  }
}

/** Reused: there is one image at a time, and its files are large. */
const buffers = new Map<string, Buffer>();

function contentOf(path: string, name: string): Uint8Array {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const known = buffers.get(name);
    const buffer = known !== undefined && known.length >= size ? known : Buffer.alloc(size * 2);
    buffers.set(name, buffer);
    return buffer.subarray(0, readSync(file, buffer, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

function isSynced(database: DatabaseSync): boolean {
  return plainPrepare(database, "PRAGMA synchronous").get()?.["synchronous"] === FULL;
}
