/**
 * The fleet of a campaign, on either store: worker processes, a producer that places tasks and
 * writes down what it was promised, raw logs in a folder of their own, and the verdict at the end.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMillrace } from "millrace";
import type { Millrace } from "millrace";
import { testLogger } from "../../../../test/support/logger.ts";
import { check } from "../check/check.ts";
import type { Verdict } from "../check/check.ts";
import { startChild } from "./children.ts";
import type { Child, WorkerSettings, WorkSettings } from "./children.ts";
import type { Ack, Exit, History, StoredJob } from "./history.ts";
import { AppendLog, LogReader } from "./ledger.ts";
import type { LedgerLine } from "./ledger.ts";
import { readStore } from "./stored.ts";
import { task } from "./task.ts";
import type { Act, End } from "./task.ts";
import { until } from "../until.ts";

/** The default of the library, for campaigns that do not choose. */
const LEASE_MS = 30_000;
const DRAIN_MS_MAX = 120_000;
/** Beyond the default grace and all that follows it. */
const STOP_MS_MAX = 60_000;
const WORKER = new URL("worker.child.ts", import.meta.url);

export interface FleetOptions {
  /** What its folder is called after. */
  readonly name: string;
  /** The store. Absent: a file in the folder. */
  readonly url?: string;
  /** The way of the workers to the same store, where it is another. */
  readonly workersUrl?: string;
  readonly workers: number;
  readonly work?: WorkSettings;
  /** For Node itself, in every process. */
  readonly nodeOptions?: readonly string[];
  /** For each process that is started. */
  readonly env?: () => Readonly<Record<string, string>>;
}

/** A task as it is ordered. One without a name gets one. */
export interface Order {
  readonly name?: string;
  readonly act: Act;
  readonly end?: End;
}

/** How a campaign ended. */
export interface Ending extends Verdict {
  readonly store: ReadonlyMap<string, StoredJob>;
  /** Calls of the producer that ended with an error: their tasks may or may not stand. */
  readonly refused: readonly string[];
}

export class Fleet implements AsyncDisposable {
  readonly folder: string;
  readonly mill: Millrace;
  readonly ledger: LogReader<LedgerLine>;
  readonly acks: LogReader<Ack>;
  /** One per seat; a campaign may put a new one there. */
  readonly workers: Child[] = [];
  readonly #options: FleetOptions;
  readonly #url: string;
  readonly #ackLog: AppendLog;
  readonly #living = new Set<Child>();
  readonly #told = new Map<number, Exit["told"]>();
  readonly #exits: Exit[] = [];
  readonly #refused: string[] = [];
  #orders = 0;
  #isKept = false;

  static async open(options: FleetOptions): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), `millrace-${options.name}-`));
    const url = options.url ?? `sqlite:${join(folder, "jobs.db")}`;
    const mill = await openMillrace(url, { logger: testLogger });
    const fleet = new Fleet(folder, url, mill, options);
    await Promise.all(fleet.workers.map(({ ready }) => ready));
    return fleet;
  }

  private constructor(folder: string, url: string, mill: Millrace, options: FleetOptions) {
    this.folder = folder;
    this.mill = mill;
    this.#url = url;
    this.#options = options;
    for (const log of [this.path("ledger"), this.path("acks")]) writeFileSync(log, "");
    this.ledger = new LogReader(this.path("ledger"));
    this.acks = new LogReader(this.path("acks"));
    this.#ackLog = new AppendLog(this.path("acks"));
    for (let seat = 0; seat < options.workers; seat += 1) this.workers.push(this.startWorker());
  }

  /** Where a raw log lies. `words`: what the processes have to say. */
  path(log: string): string {
    return join(this.folder, `${log}.jsonl`);
  }

  startWorker(): Child {
    const { workersUrl = this.#url, work = {} } = this.#options;
    const settings: WorkerSettings = { url: workersUrl, ledger: this.path("ledger"), work };
    return this.start(WORKER, settings);
  }

  /** Starts a process of this fleet, and watches how it ends. */
  start(program: URL, settings: object): Child {
    const { nodeOptions = [], env = () => ({}) } = this.#options;
    const log = this.path("words");
    const child = startChild({ program, settings, log, nodeOptions, env: env() });
    this.#told.set(child.pid, "nothing");
    this.#living.add(child);
    void this.#noteExit(child);
    return child;
  }

  async #noteExit(child: Child): Promise<void> {
    const code = await child.ended;
    const { pid } = child;
    this.#living.delete(child);
    this.#exits.push({ pid, told: this.#told.get(pid) ?? "nothing", code, at: Date.now() });
  }

  kill(child: Child): void {
    this.#told.set(child.pid, "killed");
    child.kill("SIGKILL");
  }

  /** Lets a process stop as in a deploy. Answers its exit code, or the signal that ended it. */
  async stop(child: Child): Promise<number | NodeJS.Signals> {
    // One that is still starting does not listen to signals yet.
    await child.ready;
    if (this.#told.get(child.pid) === "nothing") this.#told.set(child.pid, "stop");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    const code = await child.ended;
    clearTimeout(timer);
    return code;
  }

  /** Places tasks in one call. An error is noted: the call of a lost server may fail. */
  async place(orders: readonly Order[], { keyed = false } = {}): Promise<readonly string[]> {
    const requests = orders.map(({ name = this.#nextName(), act, end = "well" }) => {
      return { name, request: task.of({ name, act, end }, keyed ? { idempotencyKey: name } : {}) };
    });
    try {
      const jobs = await this.mill.enqueueMany(requests.map(({ request }) => request));
      const at = Date.now();
      for (const [index, { id }] of jobs.entries()) {
        const key = keyed ? { key: requests[index]?.name ?? "" } : {};
        this.#ackLog.append(JSON.stringify({ id, at, ...key } satisfies Ack));
      }
      return jobs.map(({ id }) => id);
    } catch (error) {
      this.#refused.push(String(error));
      return [];
    }
  }

  /** Resolves once no job waits or runs any more. What is left at the limit, the checker finds. */
  async drain(limitMs: number = DRAIN_MS_MAX): Promise<void> {
    const drained = until("all jobs are done", limitMs, async () => {
      const { scheduled, queued, running } = await this.mill.jobs.stats();
      return scheduled + queued + running === 0;
    });
    await drained.catch((error: unknown) => console.error(String(error)));
  }

  /**
   * Lets the workers stop, and judges, once `retold` has added what else was seen. The history of a
   * fleet that broke its word is kept.
   */
  async finish(retold: (seen: History) => History = (seen) => seen): Promise<Ending> {
    await Promise.all(this.workers.map((worker) => this.stop(worker)));
    const store = await readStore(this.mill);
    const verdict = check(
      retold({
        acks: this.acks.lines(),
        ledger: this.ledger.lines(),
        store,
        leaseMs: this.#options.work?.lease ?? LEASE_MS,
        exits: this.#exits,
      }),
    );
    const dump = [...store].map(([id, job]) => `${JSON.stringify({ id, ...job })}\n`);
    writeFileSync(this.path("store"), dump.join(""));
    if (verdict.findings.length > 0) this.keep();
    return { ...verdict, store, refused: this.#refused };
  }

  /** Leaves the raw logs where they are. */
  keep(): void {
    if (!this.#isKept) console.error(`the history is kept in ${this.folder}`);
    this.#isKept = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#living) child.kill("SIGKILL");
    await this.mill.close();
    this.#ackLog[Symbol.dispose]();
    if (!this.#isKept) rmSync(this.folder, { recursive: true, force: true });
  }

  #nextName(): string {
    this.#orders += 1;
    return `task ${this.#orders}`;
  }
}
