/**
 * The eye of the simulation on the database: looks at every piece of every transaction, keeps what
 * was committed last, and lets commits fail.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  checkBeats,
  checkEvents,
  checkOrder,
  checkState,
  checkStep,
  type Report,
  type Rules,
  type Told,
} from "./invariants.ts";
import { eventsAfter, takeSnapshot, workersOf, type Snapshot } from "./snapshot.ts";
import { plainPrepare, sqliteError, type Taps } from "./taps.ts";
import type { Process, World } from "./world.ts";

const BUSY = 5;
const IO_ERROR = 10;
const FULL = 2;

/** What is wrong with the disk of a process just now. */
export interface Disk {
  busyUntil: number;
  /** So many commits fail, undone or done all the same. */
  fails: number;
  loses: number;
  /** It has failed before: what the process does about it may leave something behind. */
  hasFailed: boolean;
}

/** The files as they would be after a loss of power, and what they hold. */
interface Image {
  readonly files: readonly (readonly [path: string, content: Buffer])[];
  readonly snapshot: Snapshot;
}

export class Watch implements Taps {
  committed: Snapshot;
  /** Which process is which worker, by the hex of its id. */
  readonly workers = new Map<string, Process>();
  readonly #world: World;
  readonly #path: string;
  readonly #rules: Rules;
  readonly #report: Report;
  readonly #count: (name: string) => void;
  readonly #owners = new Map<DatabaseSync, Process>();
  readonly #disks = new Map<Process, Disk>();
  #working: Snapshot | null = null;
  #told: Told[] = [];
  #changes = 0;
  /** What the present piece has written so far. */
  #written: "workers" | "jobs" | null = null;
  #fenceMax = 0;
  readonly #secrets = new Set<string>();
  /** Set while commits that were not synced would be lost with the power. */
  #image: Image | null = null;

  constructor(parts: {
    world: World;
    path: string;
    rules: Rules;
    report: Report;
    count: (name: string) => void;
  }) {
    this.#world = parts.world;
    this.#path = parts.path;
    this.#rules = parts.rules;
    this.#report = parts.report;
    this.#count = parts.count;
    this.committed = this.#look();
  }

  disk(process: Process): Disk {
    const disk = this.#disks.get(process) ?? { busyUntil: 0, fails: 0, loses: 0, hasFailed: false };
    this.#disks.set(process, disk);
    return disk;
  }

  /** All disks are well again. */
  heal(): void {
    this.#disks.clear();
  }

  /** The process is dead: the system closes its files. */
  close(process: Process): void {
    for (const [database, owner] of this.#owners) {
      if (owner !== process) continue;
      this.#owners.delete(database);
      if (database.isOpen) database.close();
    }
  }

  /** What was not synced may be gone. Every process must be dead. */
  losePower(): void {
    const image = this.#image;
    this.#image = null;
    if (image !== null) {
      for (const end of ["", "-wal", "-shm"]) rmSync(`${this.#path}${end}`, { force: true });
      for (const [path, content] of image.files) writeFileSync(path, content);
      this.#count("power loss with unsynced writes");
    }
    const found = this.#look();
    const expected = image?.snapshot ?? this.committed;
    if (textOf(found) !== textOf(expected)) {
      this.#report("I18", "after a loss of power the store is not what was synced");
    }
    this.committed = found;
  }

  opened(database: DatabaseSync): void {
    if (this.#world.current !== null) this.#owners.set(database, this.#world.current);
  }

  begin(database: DatabaseSync): void {
    const owner = this.#owners.get(database);
    if (owner !== undefined && this.disk(owner).busyUntil > this.#world.elapsedMs) {
      this.#count("busy, tried again");
      throw sqliteError(BUSY, "database is locked");
    }
    this.#working = this.committed;
    this.#told = [];
    this.#written = null;
    this.#changes = changesOf(database);
  }

  wrote(what: "workers" | "jobs"): void {
    if (this.#written !== "jobs") this.#written = what;
  }

  piece(database: DatabaseSync): void {
    const owner = this.#owners.get(database);
    const changes = changesOf(database);
    const written = this.#written;
    this.#written = null;
    if (this.#working === null || owner === undefined || changes === this.#changes) return;
    this.#changes = changes;
    this.#checkRemoved(this.#working.workers, workersOf(database), owner);
    if (written === "workers") {
      const workers = workersOf(database);
      const longestUntil = owner.clock.now() + this.#rules.leaseMs;
      checkBeats(this.#working.workers, workers, longestUntil, this.#report);
      this.#working = { ...this.#working, workers };
      return;
    }
    const after = takeSnapshot(database);
    this.step(this.#working, after, owner.clock.now());
    this.#working = after;
  }

  commit(database: DatabaseSync, run: () => unknown): unknown {
    const owner = this.#owners.get(database);
    const working = this.#working;
    if (owner === undefined || working === null) return run();
    const disk = this.disk(owner);
    if (disk.fails > 0) {
      disk.fails -= 1;
      disk.hasFailed = true;
      this.#count("commit failed");
      throw sqliteError(IO_ERROR, "planted: disk I/O error, nothing is written");
    }
    const isSynced = plainPrepare(database, "PRAGMA synchronous").get()?.["synchronous"] === FULL;
    if (!isSynced) this.#image ??= this.#keep();
    const answer = run();
    if (isSynced) this.#image = null;
    this.adopt(database, working);
    if (disk.loses === 0) return answer;
    disk.loses -= 1;
    disk.hasFailed = true;
    this.#count("commit done, and an error answered");
    throw sqliteError(IO_ERROR, "planted: disk I/O error, all is written");
  }

  undone(): void {
    this.#working = null;
  }

  /** One step inside a transaction. */
  step(before: Snapshot, after: Snapshot, nowMs: number): void {
    this.#told.push(...checkStep(before, after, nowMs, this.#rules, this.#report));
    checkOrder(before, after, nowMs, this.#report);
    checkState(after, this.#rules, this.#report);
    this.#countRare(before, after);
  }

  /** What was committed is what counts from now on, and the feed has told it. */
  adopt(database: DatabaseSync, working: Snapshot): void {
    const rows = eventsAfter(database, this.committed.lastEvent);
    checkEvents(this.#told, rows, this.committed.lastEvent, this.#report);
    this.#checkFences(this.committed, working);
    this.committed = { ...working, lastEvent: rows.at(-1)?.position ?? working.lastEvent };
    this.#working = null;
    this.#told = [];
  }

  /** Only a worker itself may leave while its lease stands. */
  #checkRemoved(before: Snapshot["workers"], after: Snapshot["workers"], owner: Process): void {
    for (const [id, { until }] of before) {
      const isOwn = this.workers.get(id) === owner;
      if (after.has(id) || isOwn || until <= owner.clock.now()) continue;
      this.#report("I5", `worker ${id} was given up while its lease stood`);
    }
  }

  #checkFences(before: Snapshot, after: Snapshot): void {
    for (const { number, secret } of after.leases.values()) {
      if (before.leases.has(number)) continue;
      if (number <= this.#fenceMax) this.#report("I3", `lease ${number} was given out before`);
      if (this.#secrets.has(secret)) this.#report("I3", `the secret of ${number} was used before`);
      this.#fenceMax = Math.max(this.#fenceMax, number);
      this.#secrets.add(secret);
    }
  }

  #countRare(before: Snapshot, after: Snapshot): void {
    for (const [key, rows] of after.attempts) {
      for (const { outcome, state, crashes } of rows.slice(before.attempts.get(key)?.length ?? 0)) {
        if (outcome === 4) this.#count("rescued after its lease had expired");
        if (outcome === 4 && state === 6 && crashes >= this.#rules.crashCap) {
          this.#count("crash cap reached");
        }
        if (outcome === 3) this.#count("timed out");
        if (outcome === 7) this.#count("snoozed");
        if (outcome === 6) this.#count("interrupted");
        if (outcome === 5 && before.asked.has(key)) this.#count("running job cancelled");
      }
    }
    for (const [key, [run]] of before.held) {
      if (run?.start === null && after.places.has(key)) this.#count("buffered job went back");
    }
    for (const [key, [place]] of after.places) {
      const was = before.places.get(key)?.[0]?.place;
      if (place?.place === "blocked" && was === "ready") this.#count("held behind a gate");
    }
    if (after.jobs.size < before.jobs.size) this.#count("pruned");
  }

  /** Opens the file as somebody would who comes to look. */
  #look(): Snapshot {
    const database = new DatabaseSync(this.#path);
    try {
      const verdict = plainPrepare(database, "PRAGMA integrity_check").get()?.["integrity_check"];
      if (verdict !== "ok") this.#report("I18", `integrity_check says ${String(verdict)}`);
      return takeSnapshot(database);
    } finally {
      database.close();
    }
  }

  #keep(): Image {
    const files = ["", "-wal"].map((end) => {
      const path = `${this.#path}${end}`;
      return [path, readFileSync(path)] as const;
    });
    return { files, snapshot: this.committed };
  }
}

function changesOf(database: DatabaseSync): number {
  return Number(plainPrepare(database, "SELECT total_changes() AS n").get()?.["n"]);
}

/** A snapshot as text, so that two can be compared. */
function textOf(snapshot: Snapshot): string {
  return JSON.stringify(snapshot, (_, value: unknown) => {
    return value instanceof Map || value instanceof Set ? [...value] : value;
  });
}
