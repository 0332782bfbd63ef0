/**
 * A campaign on PostgreSQL: worker processes and a producer that places orders, each of which has a
 * name. At the end there is one job for each name, with one run and one end.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMillrace } from "millrace";
import type { JobView, Millrace } from "millrace";
import { check } from "./check.ts";
import type { StoredJob } from "./check.ts";
import type { WorkSettings, WorkerSettings } from "./children.ts";
import { LedgerReader } from "./ledger.ts";
import { childOf, order } from "./order.ts";
import type { Order } from "./order.ts";
import { until } from "./until.ts";

const LEASE_MS = 30_000;
const DRAIN_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const PAGE = 200;
const PROGRAM = fileURLToPath(new URL("order.child.ts", import.meta.url));

interface FleetOptions {
  /** For the producer, and for the workers. */
  readonly url: string;
  readonly workersUrl?: string;
  readonly workers: number;
  readonly work?: WorkSettings;
}

/** An order that was acknowledged. */
export interface Ack {
  readonly id: string;
  readonly at: number;
}

/** What became of all orders. */
export interface Outcome {
  readonly acked: number;
  /** Calls of the producer that ended with an error: their orders may or may not stand. */
  readonly refused: readonly string[];
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Runs that followed another run of the same job. */
  readonly secondRuns: number;
  /** Processes that ended without being told to, or not well. */
  readonly exits: number;
}

export class Fleet implements AsyncDisposable {
  readonly mill: Millrace;
  readonly acks: Ack[] = [];
  readonly workers: readonly ChildProcess[];
  readonly ledger: LedgerReader;
  readonly #folder: string;
  readonly #refused: string[] = [];
  #exits = 0;
  #isStopping = false;

  static async open(options: FleetOptions): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-fleet-"));
    const fleet = new Fleet(folder, await openMillrace(options.url), options);
    await Promise.all(fleet.workers.map((worker) => once(worker, "message")));
    return fleet;
  }

  private constructor(folder: string, mill: Millrace, options: FleetOptions) {
    const { url, workersUrl = url, workers, work = {} } = options;
    this.#folder = folder;
    this.mill = mill;
    const ledger = join(folder, "ledger.jsonl");
    writeFileSync(ledger, "");
    this.ledger = new LedgerReader(ledger);
    this.workers = Array.from({ length: workers }, () =>
      this.#startWorker({ url: workersUrl, ledger, work }),
    );
  }

  /** Places orders in one call. An error is noted: the call of a lost server may fail. */
  async place(orders: readonly Order[], { keyed = false } = {}): Promise<void> {
    const requests = orders.map((each) =>
      order.of(each, keyed ? { idempotencyKey: each.name } : {}),
    );
    try {
      const jobs = await this.mill.enqueueMany(requests);
      const at = Date.now();
      this.acks.push(...jobs.map(({ id }) => ({ id, at })));
    } catch (error) {
      this.#refused.push(String(error));
    }
  }

  /** Resolves once nothing waits or runs. What is left at the limit is told as lost. */
  async drain(): Promise<void> {
    const drained = until("all orders are done", DRAIN_MS_MAX, async () => {
      const { scheduled, queued, running } = await this.mill.jobs.stats();
      return scheduled + queued + running === 0;
    });
    await drained.catch((error: unknown) => console.log(String(error)));
  }

  /** Lets the workers stop, and judges. */
  async finish(): Promise<Outcome> {
    await this.#stopWorkers();
    const { jobs, store } = await readAll(this.mill);
    const acks = this.acks.map(({ id }) => id);
    const verdict = check({ acks, ledger: this.ledger.lines(), store, leaseMs: LEASE_MS });
    const lost = verdict.findings.filter(({ kind }) => kind === "lost");
    const doubled = verdict.findings.filter(({ kind }) => kind !== "lost");
    const words = ({ job, why }: { job: string; why: string }): string => `${job}: ${why}`;
    return {
      acked: acks.length,
      refused: this.#refused,
      lost: [...lost.map(words), ...withoutChild(jobs), ...endedOtherwise(jobs)],
      doubled: [...doubled.map(words), ...copies(jobs)],
      secondRuns: verdict.successions.length,
      exits: this.#exits,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    for (const worker of this.workers) worker.kill("SIGKILL");
    await this.mill.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #startWorker(settings: WorkerSettings): ChildProcess {
    const words = openSync(join(this.#folder, "workers.log"), "a");
    const worker = fork(PROGRAM, [JSON.stringify(settings)], {
      execArgv: ["--conditions=source"],
      stdio: ["ignore", words, words, "ipc"],
    });
    closeSync(words);
    worker.once("exit", (code) => {
      if (!this.#isStopping || code !== 0) this.#exits += 1;
    });
    return worker;
  }

  async #stopWorkers(): Promise<void> {
    this.#isStopping = true;
    const living = this.workers.filter(({ connected }) => connected);
    const ends = living.map((worker) => once(worker, "exit"));
    for (const worker of living) worker.send("stop");
    const timer = setTimeout(() => {
      for (const worker of living) worker.kill("SIGKILL");
    }, STOP_MS_MAX);
    await Promise.all(ends);
    clearTimeout(timer);
  }
}

/** The figures, and the first words of what is wrong. */
export function linesOf(outcome: Outcome): readonly string[] {
  const { acked, refused, lost, doubled, secondRuns, exits } = outcome;
  return [
    `acked ${acked}, lost ${lost.length}, doubled ${doubled.length}, ` +
      `second runs ${secondRuns}, process exits ${exits}, calls refused ${refused.length}`,
    ...[...lost, ...doubled, ...refused].slice(0, 10),
  ];
}

/** Every job as it is shown, and with its attempts as the checker takes it. */
async function readAll(
  mill: Millrace,
): Promise<{ jobs: readonly JobView[]; store: ReadonlyMap<string, StoredJob> }> {
  const jobs: JobView[] = [];
  const store = new Map<string, StoredJob>();
  for (let after: string | null | undefined; after !== null;) {
    const page = await mill.jobs.list({ limit: PAGE, ...(after !== undefined && { after }) });
    const stored = await Promise.all(page.jobs.map((job) => withAttempts(mill, job)));
    for (const [index, job] of page.jobs.entries()) store.set(job.id, stored[index]!);
    jobs.push(...page.jobs);
    after = page.next;
  }
  return { jobs, store };
}

async function withAttempts(mill: Millrace, job: JobView): Promise<StoredJob> {
  const attempts = await mill.jobs.attempts(job.id);
  return {
    state: job.state,
    charged: job.attempts,
    attempts: attempts.map(({ fence, outcome, finishedAt }) => {
      return { fence, outcome, finishedAt: finishedAt.getTime() };
    }),
  };
}

function orderOf({ payload }: JobView): Order {
  return JSON.parse(JSON.stringify(payload));
}

/** Children come into being with the end of their parent, or not at all. */
function withoutChild(jobs: readonly JobView[]): string[] {
  const names = new Set(jobs.map((job) => orderOf(job).name));
  return jobs
    .filter(({ state }) => state === "completed")
    .map(orderOf)
    .filter((each) => each.end === "parent" && !names.has(childOf(each).name))
    .map(({ name }) => `${name} has no child`);
}

/** The checker takes a failure for an end: it must be the one that was ordered. */
function endedOtherwise(jobs: readonly JobView[]): string[] {
  return jobs
    .filter(({ state }) => state === "completed" || state === "failed" || state === "cancelled")
    .filter((job) => job.state !== (orderOf(job).end === "failure" ? "failed" : "completed"))
    .map((job) => `${orderOf(job).name} is ${job.state}`);
}

function copies(jobs: readonly JobView[]): string[] {
  const byName = Map.groupBy(jobs, (job) => orderOf(job).name);
  return [...byName]
    .filter(([, same]) => same.length > 1)
    .map(([name, same]) => `${name} was enqueued ${same.length} times`);
}
