/**
 * The store for a fleet: the port of `../store.ts` on PostgreSQL.
 *
 * Each verb has its own file beside this one and is one statement where it can be, else one
 * transaction. `docs/decisions` says why the tables are as they are.
 */
import { within, type Clock, type Dice } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JobId } from "../../core/job.ts";
import { systemClock } from "../../lib/system.ts";
import type { Migration } from "../shared/migrations.ts";
import type * as port from "../store.ts";
import { openDependencies, resolveDependencies, runDependencyTask } from "./queue/dependencies.ts";
import { returnPrefetched, startPrefetched } from "./runs/prefetch.ts";
import { cancel } from "./jobs/cancel.ts";
import { claim } from "./runs/claim.ts";
import { Enqueuer } from "./jobs/enqueue.ts";
import { storeError } from "./database/errors.ts";
import { examine, type ExamineLimits, type ServerExamination } from "./doctor/examine.ts";
import { feed, feedEnd } from "./events/feed.ts";
import { gates, hold, pause, promote, release, resume } from "./queue/gates.ts";
import { enqueueInTransaction } from "./transactions/enqueue.ts";
import { attempts, count, get, list } from "./inspect/jobs.ts";
import { logs } from "./inspect/logs.ts";
import { migrate } from "./database/migrate.ts";
import { record } from "./runs/record.ts";
import { hurry, intervene } from "./jobs/intervene.ts";
import { overdue } from "./runs/overdue.ts";
import { OperatorWarnings } from "./operator-warnings.ts";
import { expired } from "./retention/expired.ts";
import { ANSWER_MS } from "./database/statement-timeouts.ts";
import { Pool, type PoolOptions } from "./database/pool.ts";
import { markStale, prune, remove } from "./retention/prune.ts";
import { progress, checkpoints, unitHolders, units } from "./inspect/progress.ts";
import { deadLetter, deadLetters, reprocess, review } from "./jobs/dead-letters.ts";
import { doesReadCommitted, Session } from "./database/session.ts";
import { settle } from "./runs/settle.ts";
import { lockHolder, acquireLocks } from "./runs/locks.ts";
import { stats } from "./inspect/stats.ts";
import { refuseUnfinished } from "./copy/refuse-unfinished.ts";
import { Notifier } from "./events/notifier.ts";
import { register, deregister, quiet, renew, rescue, silent, workers } from "./runs/workers.ts";

/** Jobs in one call: it is one statement. */
const ENQUEUE_MAX = 10_000;

interface Opened {
  readonly session: Session;
  readonly enqueuer: Enqueuer;
}

export interface StoreOptions {
  readonly address: PoolOptions;
  /** Where that is, for messages: no secret. */
  readonly place: string;
  readonly schema: string;
  /** Null: the server's clock decides. */
  readonly clock: Clock | null;
  readonly dice: Dice;
  readonly migrations: readonly Migration[];
  readonly thread: port.ThreadEntry | null;
}

/** How long calls under way hold up the close: twice what most answers may take. */
const CLOSE_MS_MAX = 2 * ANSWER_MS;

export class PostgresJobStore implements port.JobStore {
  readonly "~store" = true;
  readonly thread: port.ThreadEntry | null;
  readonly #options: StoreOptions;
  readonly #running = new Set<Promise<unknown>>();
  readonly #warnings = new OperatorWarnings();
  #opening: Promise<Opened> | null = null;
  #opened: Opened | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.thread = options.thread;
  }

  async open(): Promise<void> {
    if (this.#closing !== null) throw closedError();
    this.#opening ??= openAll(this.#options, this.#warnings);
    this.#opened = await this.#opening;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async enqueue(jobs: readonly port.NewJob[]): Promise<readonly port.EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#run((_, enqueuer) => enqueuer.enqueue(jobs));
  }

  async enqueueInTransaction(
    tx: unknown,
    jobs: readonly port.NewJob[],
  ): Promise<readonly port.EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#run((session) => enqueueInTransaction(session, tx, jobs));
  }

  async register(worker: port.WorkerInfo): Promise<void> {
    return this.#run((session) => register(session, worker));
  }

  async deregister(worker: port.WorkerId): Promise<void> {
    return this.#run((session) => deregister(session, worker));
  }

  async renew(worker: port.WorkerId, leaseMs: number): Promise<port.Renewal> {
    return this.#run((session) => renew(session, worker, leaseMs));
  }

  readonly claimsAtOnce = 2;

  async claim(request: port.ClaimRequest): Promise<port.Claim> {
    return this.#run((session) => claim(session, request));
  }

  async startPrefetched(
    lease: port.Lease,
    keys: readonly port.JobKey[],
  ): ReturnType<port.JobStore["startPrefetched"]> {
    return this.#run((session) => startPrefetched(session, lease, keys));
  }

  async returnPrefetched(lease: port.Lease, keys: readonly port.JobKey[]): Promise<number> {
    return this.#run((session) => returnPrefetched(session, lease, keys));
  }

  async settle(items: readonly port.SettleItem[]): Promise<readonly port.SettleAnswer[]> {
    return this.#run((session) => settle(session, items));
  }

  async record(notes: readonly port.RunNote[]): Promise<readonly port.NoteAnswer[]> {
    return this.#run((session) => record(session, notes));
  }

  async acquireLocks(run: port.OpenRun, names: readonly string[]): Promise<port.AcquiredLocks> {
    return this.#run((session) => acquireLocks(session, run, names));
  }

  async checkpoints(key: port.JobKey): Promise<port.Checkpoints> {
    return this.#run((session) => checkpoints(session, key));
  }

  async overdue(worker: port.WorkerId, slackMs: number): Promise<readonly port.OverdueRun[]> {
    return this.#run((session) => overdue(session, worker, slackMs));
  }

  async silent(limit: number): Promise<readonly port.SilentWorker[]> {
    return this.#run((session) => silent(session, limit));
  }

  async rescue(request: port.RescueRequest): Promise<port.Rescue> {
    return this.#run((session) => rescue(session, request));
  }

  async promote(limit: number): Promise<port.Promotion> {
    return this.#run((session) => promote(session, limit));
  }

  async cancel(id: JobId, by: string | null, reason: string | null): Promise<port.CancelAnswer> {
    return this.#run((session) => cancel(session, id, by, reason));
  }

  async hurry(id: JobId): ReturnType<port.JobStore["hurry"]> {
    return this.#run((session) => hurry(session, id));
  }

  async intervene(
    id: JobId,
    decide: Parameters<port.JobStore["intervene"]>[1],
  ): Promise<port.InterveneAnswer> {
    return this.#run((session) => intervene(session, id, decide));
  }

  async pause(gate: port.GateName, why: Parameters<port.JobStore["pause"]>[1]): Promise<void> {
    return this.#run((session) => pause(session, gate, why));
  }

  async resume(gate: port.GateName): Promise<void> {
    return this.#run((session) => resume(session, gate));
  }

  async gates(): Promise<readonly port.Gate[]> {
    return this.#run((session) => gates(session));
  }

  async hold(limit: number): Promise<number> {
    return this.#run((session) => hold(session, limit));
  }

  async release(limit: number): Promise<number> {
    return this.#run((session) => release(session, limit));
  }

  async resolveDependencies(limit: number): Promise<number> {
    return this.#run((session) => resolveDependencies(session, limit));
  }

  async get(id: JobId): Promise<port.JobRecord | null> {
    return this.#run((session) => get(session, id));
  }

  async attempts(id: JobId): Promise<readonly port.AttemptRecord[]> {
    return this.#run((session) => attempts(session, id));
  }

  async progress(id: JobId): Promise<port.JobProgress | null> {
    return this.#run((session) => progress(session, id));
  }

  async units(
    id: JobId,
    filter: port.UnitFilter,
    page: Parameters<port.JobStore["units"]>[2],
  ): Promise<readonly port.UnitRecord[]> {
    return this.#run((session) => units(session, id, filter, page));
  }

  async unitHolders(unit: string, limit: number): Promise<readonly port.UnitHolder[]> {
    return this.#run((session) => unitHolders(session, unit, limit));
  }

  async logs(
    id: JobId,
    page: Parameters<port.JobStore["logs"]>[1],
  ): Promise<readonly port.LogRecord[]> {
    return this.#run((session) => logs(session, id, page));
  }

  async openDependencies(id: JobId, limit: number): Promise<readonly JobId[]> {
    return this.#run((session) => openDependencies(session, id, limit));
  }

  async lockHolder(tenant: string, name: string): Promise<JobId | null> {
    return this.#run((session) => lockHolder(session, tenant, name));
  }

  async list(filter: port.ListFilter, page: port.Page): Promise<port.Listing> {
    return this.#run((session) => list(session, filter, page));
  }

  async count(filter: port.ListFilter, max: number): Promise<number> {
    return this.#run((session) => count(session, filter, max));
  }

  async deadLetter(id: JobId): Promise<port.DeadLetter | null> {
    return this.#run((session) => deadLetter(session, id));
  }

  async deadLetters(
    filter: port.DeadLetterFilter,
    page: Parameters<port.JobStore["deadLetters"]>[1],
  ): Promise<readonly port.DeadLetter[]> {
    return this.#run((session) => deadLetters(session, filter, page));
  }

  async review(id: JobId, verdict: port.Review): Promise<port.ReviewAnswer> {
    return this.#run((session) => review(session, id, verdict));
  }

  async reprocess(
    id: JobId,
    successor: port.NewJob,
    by: string,
    notes: string | null,
  ): Promise<port.ReprocessAnswer> {
    return this.#run((session) => reprocess(session, id, successor, { by, notes }));
  }

  async workers(limit: number): Promise<readonly port.WorkerRecord[]> {
    return this.#run((session) => workers(session, limit));
  }

  async quiet(worker: port.WorkerId): Promise<boolean> {
    return this.#run((session) => quiet(session, worker));
  }

  async stats(max: number): Promise<port.Stats> {
    return this.#run((session) => stats(session, max));
  }

  async feedEnd(): Promise<number> {
    return this.#run((session) => feedEnd(session));
  }

  async feed(
    position: number,
    limit: number,
    about?: ReadonlySet<port.EventKind>,
  ): Promise<readonly port.FeedEntry[]> {
    return this.#run((session) => feed(session, position, limit, about));
  }

  async prune(retention: port.Retention, limit: number): Promise<port.Pruned> {
    return this.#run((session) => prune(session, retention, limit));
  }

  async expired(periods: port.Periods, page: port.ExpiredPage): Promise<port.ExpiredJobs> {
    return this.#run((session) => expired(session, periods, page));
  }

  async markStale(keys: readonly port.JobKey[]): Promise<number> {
    return this.#run((session) => markStale(session, keys));
  }

  async remove(keys: readonly port.JobKey[], retention: port.Retention): Promise<number> {
    return this.#run((session) => remove(session, keys, retention));
  }

  watch(listener: (wakeUp: port.WakeUp) => void): () => void {
    return this.#use().session.notifier.watch(listener);
  }

  /** Looks for what slows the server down, and for what somebody has changed by hand. */
  async examine(limits: Partial<ExamineLimits> = {}): Promise<ServerExamination> {
    return this.#run((session) => examine(session, limits));
  }

  /** Tells once what an operator should know, such as that wake-ups do not come through. */
  onWarning(listener: (warning: string) => void): void {
    this.#warnings.listen(listener);
  }

  #use(): Opened {
    if (this.#opened === null || this.#closing !== null) throw closedError();
    return this.#opened;
  }

  /** Runs a verb; `close` waits for it. */
  async #run<Answer>(
    verb: (session: Session, enqueuer: Enqueuer) => Promise<Answer>,
  ): Promise<Answer> {
    const { session, enqueuer } = this.#use();
    const running = verb(session, enqueuer);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw storeError(error, this.#options.place);
    } finally {
      this.#running.delete(running);
    }
  }

  async #close(): Promise<void> {
    // An opening under way is let through, so that it can be closed.
    await this.#opening?.catch(() => {});
    if (this.#opened === null) return;
    const { session } = this.#opened;
    session.notifier.close();
    // What has no answer by then waits on a line that is dead.
    await within(systemClock, CLOSE_MS_MAX, Promise.allSettled(this.#running));
    await within(systemClock, CLOSE_MS_MAX, session.dependencyTasks.done());
    await within(systemClock, CLOSE_MS_MAX, session.notifier.silent());
    await session.pool.end();
  }
}

async function openAll(options: StoreOptions, warnings: OperatorWarnings): Promise<Opened> {
  const { address, place, schema, migrations, clock, dice } = options;
  const pool = await Pool.make(address);
  const tell = (warning: string): void => warnings.report(warning);
  try {
    await migrate({ pool, schema, migrations, dice, tell });
    await refuseUnfinished(pool, schema);
    const readsCommitted = await doesReadCommitted(pool);
    const notifier = new Notifier({ pool, address, schema, dice, tell });
    const parts = { pool, schema, clock, dice, notifier, readsCommitted, runDependencyTask };
    const session = new Session(parts);
    return { session, enqueuer: new Enqueuer(session) };
  } catch (error) {
    await pool.end();
    throw storeError(error, place);
  }
}

/** The answer to any use before `open` or after `close`. */
function closedError(): MillraceError {
  return new MillraceError("STORE_CLOSED", "the store is not open");
}

function checkCount({ length }: readonly port.NewJob[]): void {
  if (length <= ENQUEUE_MAX) return;
  const limit = `at most ${ENQUEUE_MAX} jobs can be enqueued in one call`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}
