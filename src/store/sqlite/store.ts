/**
 * The embedded store: the port of `../store.ts` on one SQLite file.
 *
 * `node:sqlite` is synchronous, and that is its strength here: a verb runs from BEGIN to COMMIT
 * without an `await`, so nothing slips in between. Writes go through the one {@link Writer}, which
 * lets overlapping calls share a commit; reads run directly. Each verb has its own file beside this
 * one.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, Dice } from "../../core/clock.ts";
import type { JobId } from "../../core/job.ts";
import type * as port from "../store.ts";
import { backup } from "./backup.ts";
import { cancel } from "./cancel.ts";
import { claim, claimsNothing, handBack, start } from "./claim.ts";
import { openDatabase, type ConnectionOptions } from "./connection.ts";
import { deadLetter } from "./dead-letter.ts";
import { enqueue } from "./enqueue.ts";
import { gates, hold, nextDueMs, pause, promote, release, resume } from "./gates.ts";
import { attempts, count, feed, get, list } from "./inspect.ts";
import { Names } from "./names.ts";
import { prune } from "./prune.ts";
import type { Session } from "./session.ts";
import { settle } from "./settle.ts";
import { Statements } from "./statements.ts";
import { Tidings } from "./tidings.ts";
import { Watcher } from "./watcher.ts";
import { join, leave, renew, rescue, silent } from "./workers.ts";
import { closedError, Writer } from "./writer.ts";

interface Opened {
  readonly database: DatabaseSync;
  readonly session: Session;
  readonly writer: Writer;
  readonly watcher: Watcher;
}

export class SqliteJobStore implements port.JobStore {
  readonly "~store" = true;
  readonly #options: ConnectionOptions & { readonly clock: Clock; readonly dice: Dice };
  #opened: Opened | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: ConnectionOptions & { readonly clock: Clock; readonly dice: Dice }) {
    this.#options = options;
  }

  async open(): Promise<void> {
    if (this.#closing !== null) throw closedError();
    this.#opened ??= openAll(this.#options);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async enqueue(jobs: readonly port.NewJob[]): Promise<readonly port.EnqueueAnswer[]> {
    return this.#write((session) => enqueue(session, jobs));
  }

  async join(worker: port.WorkerInfo): Promise<void> {
    return this.#write((session) => join(session, worker));
  }

  async leave(worker: port.WorkerId): Promise<void> {
    return this.#write((session) => leave(session, worker));
  }

  async renew(worker: port.WorkerId, leaseMs: number): Promise<port.Renewal> {
    return this.#write((session) => renew(session, worker, leaseMs));
  }

  async claim(request: port.ClaimRequest): Promise<port.Claim> {
    const empty = claimsNothing(this.#use().session, request);
    if (empty !== null) return empty;
    return this.#write((session) => claim(session, request));
  }

  async start(lease: port.Lease): ReturnType<port.JobStore["start"]> {
    return this.#write((session) => start(session, lease));
  }

  async handBack(lease: port.Lease, keys: readonly port.JobKey[]): Promise<number> {
    return this.#write((session) => handBack(session, lease, keys));
  }

  async settle(items: readonly port.SettleItem[]): Promise<readonly ("settled" | "stale")[]> {
    return this.#write((session) => settle(session, items));
  }

  async silent(limit: number): Promise<readonly port.SilentWorker[]> {
    return silent(this.#use().session, limit);
  }

  async rescue(request: port.RescueRequest): Promise<port.Rescue> {
    return this.#write((session) => rescue(session, request));
  }

  async promote(limit: number): Promise<port.Promotion> {
    const waitMs = nextDueMs(this.#use().session);
    if (waitMs !== 0) return { moved: 0, nextDueMs: waitMs };
    return this.#write((session) => promote(session, limit));
  }

  async cancel(id: JobId, by: string | null, reason: string | null): Promise<port.CancelAnswer> {
    return this.#write((session) => cancel(session, id, by, reason));
  }

  async pause(gate: port.GateName, why: Parameters<port.JobStore["pause"]>[1]): Promise<void> {
    return this.#write((session) => pause(session, gate, why));
  }

  async resume(gate: port.GateName): Promise<void> {
    return this.#write((session) => resume(session, gate));
  }

  async gates(): Promise<readonly port.Gate[]> {
    return gates(this.#use().session);
  }

  async hold(limit: number): Promise<number> {
    return this.#write((session) => hold(session, limit));
  }

  async release(limit: number): Promise<number> {
    return this.#write((session) => release(session, limit));
  }

  async get(id: JobId): Promise<port.JobRecord | null> {
    return get(this.#use().session, id);
  }

  async attempts(id: JobId): Promise<readonly port.AttemptRecord[]> {
    return attempts(this.#use().session, id);
  }

  async list(filter: port.ListFilter, page: port.Page): Promise<port.Listing> {
    return list(this.#use().session, filter, page);
  }

  async count(filter: port.ListFilter, max: number): Promise<number> {
    return count(this.#use().session, filter, max);
  }

  async deadLetter(id: JobId): Promise<port.DeadLetter | null> {
    return deadLetter(this.#use().session, id);
  }

  async feed(position: number, limit: number): Promise<readonly port.FeedEntry[]> {
    return feed(this.#use().session, position, limit);
  }

  async prune(retention: port.Retention, limit: number): Promise<port.Pruned> {
    return this.#write((session) => prune(session, retention, limit));
  }

  watch(listener: () => void): () => void {
    return this.#use().watcher.watch(listener);
  }

  /** Copies the living database into a new file that only its owner can read. */
  async backup(file: string): Promise<void> {
    await backup(this.#use().database, file);
  }

  #use(): Opened {
    if (this.#opened === null || this.#closing !== null) throw closedError();
    return this.#opened;
  }

  #write<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    const { session, writer } = this.#use();
    return writer.write(() => work(session));
  }

  async #close(): Promise<void> {
    if (this.#opened === null) return;
    const { database, writer, watcher } = this.#opened;
    watcher.close();
    await writer.close();
    database.close();
  }
}

function openAll(options: ConnectionOptions & { clock: Clock; dice: Dice }): Opened {
  const { clock, dice, path } = options;
  const database = openDatabase(options);
  const sql = new Statements(database);
  const names = new Names(sql);
  const tidings = new Tidings(sql, clock);
  const watcher = new Watcher(database, clock);
  const writer = new Writer({
    database,
    path,
    clock,
    dice,
    tidings,
    committed: () => watcher.wake(),
    undone: () => names.forget(),
  });
  return { database, session: { sql, names, clock, dice, tidings }, writer, watcher };
}
