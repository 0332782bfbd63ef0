/**
 * The embedded store: the port of `../store.ts` on one SQLite file.
 *
 * `node:sqlite` is synchronous, and that is its strength here: a verb runs from BEGIN to COMMIT
 * without an `await`, so nothing slips in between. Writes go through the one {@link Writer}, which
 * lets overlapping calls share a commit; reads run directly. Each verb has its own file beside this
 * one.
 */
import type { DatabaseSync } from "node:sqlite";
import { wait, type Clock, type Dice } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JobId } from "../../core/job.ts";
import type { CopySource } from "../shared/copy-tables.ts";
import { isOnlyProgress } from "../shared/decode-notes.ts";
import type * as port from "../store.ts";
import { openDependencies, resolveDependencies, resolvesNothing } from "./queue/dependencies.ts";
import { backup } from "./backup.ts";
import { returnPrefetched, startPrefetched } from "./runs/prefetch.ts";
import { cancel } from "./jobs/cancel.ts";
import { claim, claimsNothing } from "./runs/claim.ts";
import { openDatabase, type ConnectionOptions } from "./database/connection.ts";
import { enqueue, enqueueWithin } from "./jobs/enqueue.ts";
import { isBusy, isRefused, storeError } from "./database/errors.ts";
import { examine, type Examination } from "./doctor/examine.ts";
import { feed, feedEnd } from "./events/feed.ts";
import { blockWrites } from "./copy/write-block.ts";
import {
  findBarred,
  gates,
  hold,
  nextDueMs,
  pause,
  promote,
  release,
  releasesNothing,
  resume,
} from "./queue/gates.ts";
import { enqueueInTransaction } from "./transactions/enqueue.ts";
import { attempts, count, get, list } from "./inspect/jobs.ts";
import { batchesOf } from "./batching/split-notes.ts";
import { logs } from "./inspect/logs.ts";
import { InternedNames } from "./database/interned-names.ts";
import { record } from "./runs/record.ts";
import { hurry, intervene } from "./jobs/intervene.ts";
import { expired } from "./retention/expired.ts";
import { overdue } from "./runs/overdue.ts";
import { presenceCheck } from "./database/file-identity.ts";
import { markStale, prune, remove } from "./retention/prune.ts";
import { progress, checkpoints, unitHolders, units } from "./inspect/progress.ts";
import { deadLetter, deadLetters, reprocess, review } from "./jobs/dead-letters.ts";
import type { Session } from "./database/session.ts";
import { settle, settleParts } from "./runs/settle.ts";
import { lockHolder, acquireLocks } from "./runs/locks.ts";
import { Statements } from "./database/statements.ts";
import { stats } from "./inspect/stats.ts";
import { Outbox } from "./events/outbox.ts";
import { Notifier } from "./events/notifier.ts";
import { register, deregister, quiet, renew, rescue, silent, workers } from "./runs/workers.ts";
import { closedError, Writer } from "./batching/writer.ts";

/** Jobs in one call: it is one transaction, and holds up the event loop for its whole length. */
const ENQUEUE_MAX = 10_000;
const READ_WAIT_MS = 10;
const READ_ROUNDS_MAX = 500;

interface Opened {
  readonly database: DatabaseSync;
  readonly session: Session;
  readonly writer: Writer;
  readonly notifier: Notifier;
}

export interface StoreOptions extends ConnectionOptions {
  readonly clock: Clock;
  readonly dice: Dice;
  readonly thread: port.ThreadEntry | null;
}

export class SqliteJobStore implements port.JobStore {
  readonly "~store" = true;
  readonly thread: port.ThreadEntry | null;
  readonly #options: StoreOptions;
  #opening: Promise<Opened> | null = null;
  #opened: Opened | null = null;
  #closing: Promise<void> | null = null;
  #inBacklog = false;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.thread = options.thread;
  }

  async open(): Promise<void> {
    if (this.#closing !== null) throw closedError();
    this.#opening ??= openAll(this.#options);
    this.#opened = await this.#opening;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async enqueue(jobs: readonly port.NewJob[]): Promise<readonly port.EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#unlessRefused(jobs, enqueue, enqueueWithin);
  }

  async enqueueInTransaction(
    tx: unknown,
    jobs: readonly port.NewJob[],
  ): Promise<readonly port.EnqueueAnswer[]> {
    checkCount(jobs);
    const { session } = this.#use();
    return enqueueInTransaction({ ...session, path: this.#options.path }, tx, jobs);
  }

  async register(worker: port.WorkerInfo): Promise<void> {
    return this.#write((session) => register(session, worker));
  }

  async deregister(worker: port.WorkerId): Promise<void> {
    return this.#write((session) => deregister(session, worker));
  }

  async renew(worker: port.WorkerId, leaseMs: number): Promise<port.Renewal> {
    return this.#write((session) => renew(session, worker, leaseMs));
  }

  readonly claimsAtOnce = 1;

  async claim(request: port.ClaimRequest): Promise<port.Claim> {
    // In a backlog the look before the write lock would be in vain.
    const empty = this.#inBacklog
      ? null
      : await this.#read((session) => claimsNothing(session, request));
    const { session, writer } = this.#use();
    const answer = empty ?? (await claim(session, request, (work) => writer.write(work)));
    this.#inBacklog = answer.jobs.length > 0;
    return answer;
  }

  async startPrefetched(
    lease: port.Lease,
    keys: readonly port.JobKey[],
  ): ReturnType<port.JobStore["startPrefetched"]> {
    const { session, writer } = this.#use();
    // Losing it with the power means no more than that the run is not charged for the crash.
    return writer.writeRelaxed(() => startPrefetched(session, lease, keys));
  }

  async returnPrefetched(lease: port.Lease, keys: readonly port.JobKey[]): Promise<number> {
    return this.#write((session) => returnPrefetched(session, lease, keys));
  }

  async settle(items: readonly port.SettleItem[]): Promise<readonly port.SettleAnswer[]> {
    return this.#unlessRefused(items, settle, settleParts);
  }

  async record(notes: readonly port.RunNote[]): Promise<readonly port.NoteAnswer[]> {
    const { session, writer } = this.#use();
    const answers = batchesOf(notes).map((load) => {
      const keep = (): readonly port.NoteAnswer[] => record(session, load);
      return load.every(isOnlyProgress) ? writer.writeRelaxed(keep) : writer.write(keep);
    });
    return (await Promise.all(answers)).flat();
  }

  async acquireLocks(run: port.OpenRun, names: readonly string[]): Promise<port.AcquiredLocks> {
    const { session, writer } = this.#use();
    // With the power goes the run as well, and whatever else might take the name meanwhile.
    return writer.writeRelaxed(() => acquireLocks(session, run, names));
  }

  async checkpoints(key: port.JobKey): Promise<port.Checkpoints> {
    return this.#read((session) => checkpoints(session, key));
  }

  async overdue(worker: port.WorkerId, slackMs: number): Promise<readonly port.OverdueRun[]> {
    return this.#read((session) => overdue(session, worker, slackMs));
  }

  async silent(limit: number): Promise<readonly port.SilentWorker[]> {
    return this.#read((session) => silent(session, limit));
  }

  async rescue(request: port.RescueRequest): Promise<port.Rescue> {
    return this.#write((session) => rescue(session, request));
  }

  async promote(limit: number): Promise<port.Promotion> {
    const waitMs = await this.#read(nextDueMs);
    if (waitMs !== 0) return { moved: 0, nextDueMs: waitMs };
    return this.#write((session) => promote(session, limit));
  }

  async cancel(id: JobId, by: string | null, reason: string | null): Promise<port.CancelAnswer> {
    return this.#write((session) => cancel(session, id, by, reason));
  }

  async hurry(id: JobId): ReturnType<port.JobStore["hurry"]> {
    return this.#write((session) => hurry(session, id));
  }

  async intervene(
    id: JobId,
    decide: Parameters<port.JobStore["intervene"]>[1],
  ): Promise<port.InterveneAnswer> {
    return this.#write((session) => intervene(session, id, decide));
  }

  async pause(gate: port.GateName, why: Parameters<port.JobStore["pause"]>[1]): Promise<void> {
    return this.#write((session) => pause(session, gate, why));
  }

  async resume(gate: port.GateName): Promise<void> {
    return this.#write((session) => resume(session, gate));
  }

  async gates(): Promise<readonly port.Gate[]> {
    return this.#read((session) => gates(session));
  }

  async hold(limit: number): Promise<number> {
    const barred = await this.#read((session) => findBarred(session, limit));
    return barred.length === 0 ? 0 : this.#write((session) => hold(session, limit));
  }

  async release(limit: number): Promise<number> {
    if (await this.#read(releasesNothing)) return 0;
    return this.#write((session) => release(session, limit));
  }

  async resolveDependencies(limit: number): Promise<number> {
    let moved = 0;
    // One transaction deals with a bounded number of needs, and a job may have many.
    while (moved < limit && !(await this.#read((session) => resolvesNothing(session, limit)))) {
      moved += await this.#write((session) => resolveDependencies(session, limit - moved));
    }
    return moved;
  }

  async get(id: JobId): Promise<port.JobRecord | null> {
    return this.#read((session) => get(session, id));
  }

  async attempts(id: JobId): Promise<readonly port.AttemptRecord[]> {
    return this.#read((session) => attempts(session, id));
  }

  async progress(id: JobId): Promise<port.JobProgress | null> {
    return this.#read((session) => progress(session, id));
  }

  async units(
    id: JobId,
    filter: port.UnitFilter,
    page: Parameters<port.JobStore["units"]>[2],
  ): Promise<readonly port.UnitRecord[]> {
    return this.#read((session) => units(session, id, filter, page));
  }

  async unitHolders(unit: string, limit: number): Promise<readonly port.UnitHolder[]> {
    return this.#read((session) => unitHolders(session, unit, limit));
  }

  async logs(
    id: JobId,
    page: Parameters<port.JobStore["logs"]>[1],
  ): Promise<readonly port.LogRecord[]> {
    return this.#read((session) => logs(session, id, page));
  }

  async openDependencies(id: JobId, limit: number): Promise<readonly JobId[]> {
    return this.#read((session) => openDependencies(session, id, limit));
  }

  async lockHolder(tenant: string, name: string): Promise<JobId | null> {
    return this.#read((session) => lockHolder(session, tenant, name));
  }

  async list(filter: port.ListFilter, page: port.Page): Promise<port.Listing> {
    return this.#read((session) => list(session, filter, page));
  }

  async count(filter: port.ListFilter, max: number): Promise<number> {
    return this.#read((session) => count(session, filter, max));
  }

  async deadLetter(id: JobId): Promise<port.DeadLetter | null> {
    return this.#read((session) => deadLetter(session, id));
  }

  async deadLetters(
    filter: port.DeadLetterFilter,
    page: Parameters<port.JobStore["deadLetters"]>[1],
  ): Promise<readonly port.DeadLetter[]> {
    return this.#read((session) => deadLetters(session, filter, page));
  }

  async review(id: JobId, verdict: port.Review): Promise<port.ReviewAnswer> {
    return this.#write((session) => review(session, id, verdict));
  }

  async reprocess(
    id: JobId,
    successor: port.NewJob,
    by: string,
    notes: string | null,
  ): Promise<port.ReprocessAnswer> {
    return this.#write((session) => reprocess(session, id, successor, { by, notes }));
  }

  async workers(limit: number): Promise<readonly port.WorkerRecord[]> {
    return this.#read((session) => workers(session, limit));
  }

  async quiet(worker: port.WorkerId): Promise<boolean> {
    return this.#write((session) => quiet(session, worker));
  }

  async stats(max: number): Promise<port.Stats> {
    return this.#read((session) => stats(session, max));
  }

  async feedEnd(): Promise<number> {
    return this.#read(feedEnd);
  }

  async feed(
    position: number,
    limit: number,
    about?: ReadonlySet<port.EventKind>,
  ): Promise<readonly port.FeedEntry[]> {
    return this.#read((session) => feed(session, position, limit, about));
  }

  async prune(retention: port.Retention, limit: number): Promise<port.Pruned> {
    return this.#write((session) => prune(session, retention, limit));
  }

  async expired(periods: port.Periods, page: port.ExpiredPage): Promise<port.ExpiredJobs> {
    return this.#read((session) => expired(session, periods, page));
  }

  async markStale(keys: readonly port.JobKey[]): Promise<number> {
    return this.#write((session) => markStale(session, keys));
  }

  async remove(keys: readonly port.JobKey[], retention: port.Retention): Promise<number> {
    let removed = 0;
    for (;;) {
      const { jobs, more } = await this.#write((session) => remove(session, keys, retention));
      removed += jobs;
      if (!more) return removed;
    }
  }

  watch(listener: (wakeUp: port.WakeUp) => void): () => void {
    return this.#use().notifier.watch(listener);
  }

  /** Copies the living database into a new file that only its owner can read. */
  async backup(file: string): Promise<void> {
    const { path } = this.#options;
    await backup(this.#use().database, path, file);
  }

  /** Takes back what runs, and refuses all writes from then on: the installation moves. */
  async blockWrites(...[mark, decide]: Parameters<CopySource["blockWrites"]>): Promise<number> {
    return this.#write((session) => blockWrites(this.#use().database, session, mark, decide));
  }

  /** Looks for what is wrong with the file, and with the jobs in it. */
  async examine(): Promise<Examination> {
    return this.#read((session) => examine(this.#use().database, session));
  }

  #use(): Opened {
    if (this.#opened === null || this.#closing !== null) throw closedError();
    return this.#opened;
  }

  #write<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    const { session, writer } = this.#use();
    return writer.write(() => work(session));
  }

  /** The quick way for a whole batch. Only when it is refused, it is looked at more closely. */
  async #unlessRefused<Item, Answer>(
    items: readonly Item[],
    quickly: (session: Session, items: readonly Item[]) => readonly Answer[],
    carefully: (session: Session, items: readonly Item[]) => readonly Answer[],
  ): Promise<readonly Answer[]> {
    try {
      return await this.#write((session) => quickly(session, items));
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    return this.#write((session) => carefully(session, items));
  }

  /** Reads one snapshot. A lock that another process holds for a moment is waited for. */
  async #read<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    for (let round = 0; ; round += 1) {
      const { database, session } = this.#use();
      try {
        database.exec("BEGIN");
        return work(session);
      } catch (error) {
        if (!isBusy(error) || round >= READ_ROUNDS_MAX) throw storeError(error, this.#options.path);
      } finally {
        if (database.isTransaction) database.exec("COMMIT");
      }
      await wait(session.clock, READ_WAIT_MS);
    }
  }

  async #close(): Promise<void> {
    // An opening under way is let through, so that it can be closed.
    await this.#opening?.catch(() => {});
    if (this.#opened === null) return;
    const { database, writer, notifier } = this.#opened;
    notifier.close();
    await writer.close();
    database.close();
  }
}

async function openAll(options: ConnectionOptions & { clock: Clock; dice: Dice }): Promise<Opened> {
  const { clock, dice, path } = options;
  const database = await openDatabase(options, clock);
  const sql = new Statements(database);
  const names = new InternedNames(sql);
  const outbox = new Outbox(sql, clock);
  const notifier = new Notifier(database, clock);
  const writer = new Writer({
    database,
    path,
    clock,
    dice,
    outbox,
    check: presenceCheck(path, clock),
    committed: (wakeUp) => notifier.wake(wakeUp),
    undone: () => names.forget(),
  });
  return { database, session: { sql, names, clock, dice, outbox }, writer, notifier };
}

function checkCount({ length }: readonly port.NewJob[]): void {
  if (length <= ENQUEUE_MAX) return;
  const limit = `at most ${ENQUEUE_MAX} jobs can be enqueued in one call`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}
