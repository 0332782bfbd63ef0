/**
 * The stage of a campaign: a store, a ledger and an ack log in a folder of their own, worker
 * processes, and the verdict at the end.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMillrace } from "millrace";
import type { Millrace } from "millrace";
import { check } from "./check.ts";
import type { StoredJob, Verdict } from "./check.ts";
import { killWorkers, startWorker } from "./children.ts";
import type { WorkerChild, WorkSettings } from "./children.ts";
import { effect } from "./effect.ts";
import type { Effect } from "./effect.ts";
import { AppendLog, LedgerReader, readAcks } from "./ledger.ts";
import { readStore } from "./stored.ts";
import { until } from "./until.ts";

/** The default of the library, for campaigns that do not choose. */
const LEASE_MS = 30_000;
const DRAIN_MS_MAX = 120_000;
/** Beyond the default grace and all that follows it. */
const STOP_MS_MAX = 60_000;

export class Campaign {
  readonly mill: Millrace;
  readonly ledger: LedgerReader;
  readonly #folder: string;
  readonly #work: WorkSettings;
  readonly #acks: AppendLog;

  static async open(name: string, work: WorkSettings): Promise<Campaign> {
    const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
    return new Campaign(folder, work, await openMillrace(`sqlite:${join(folder, "jobs.db")}`));
  }

  private constructor(folder: string, work: WorkSettings, mill: Millrace) {
    this.#folder = folder;
    this.#work = work;
    this.mill = mill;
    this.ledger = new LedgerReader(this.#ledgerPath);
    writeFileSync(this.#ledgerPath, "");
    this.#acks = new AppendLog(this.#acksPath);
  }

  startWorker(): WorkerChild {
    const url = `sqlite:${join(this.#folder, "jobs.db")}`;
    const settings = { url, ledger: this.#ledgerPath, work: this.#work };
    return startWorker(settings, join(this.#folder, "workers.log"));
  }

  /** Enqueues in one call, and writes the ids down once they are promised. */
  async enqueue(effects: readonly Effect[]): Promise<readonly string[]> {
    const jobs = await this.mill.enqueueMany(effects.map((each) => effect.of(each)));
    const ids = jobs.map(({ id }) => id);
    for (const id of ids) this.#acks.append(id);
    return ids;
  }

  /** Resolves once no job waits or runs any more. What is left at the limit, the checker finds. */
  async drain(): Promise<void> {
    const drained = until("all jobs are done", DRAIN_MS_MAX, async () => {
      const { scheduled, queued, running } = await this.mill.jobs.stats();
      return scheduled + queued + running === 0;
    });
    await drained.catch((error: unknown) => console.log(String(error)));
  }

  readStore(): Promise<ReadonlyMap<string, StoredJob>> {
    return readStore(this.mill);
  }

  judge(store: ReadonlyMap<string, StoredJob>): Verdict {
    return check({
      acks: readAcks(this.#acksPath),
      ledger: this.ledger.lines(),
      store,
      leaseMs: this.#work.lease ?? LEASE_MS,
    });
  }

  /** Ends the campaign. The history of one that found something is kept. */
  async close({ keep }: { readonly keep: boolean }): Promise<void> {
    await this.mill.close();
    this.#acks[Symbol.dispose]();
    if (keep) console.log(`the history is kept in ${this.#folder}`);
    else rmSync(this.#folder, { recursive: true, force: true });
  }

  get #ledgerPath(): string {
    return join(this.#folder, "ledger.jsonl");
  }

  get #acksPath(): string {
    return join(this.#folder, "acks.txt");
  }
}

/** Lets a worker stop as in a deploy. Answers its exit code, or the signal that ended it. */
export async function stopWorker(worker: WorkerChild): Promise<number | NodeJS.Signals> {
  worker.kill("SIGTERM");
  const timer = setTimeout(() => worker.kill("SIGKILL"), STOP_MS_MAX);
  const code = await worker.ended;
  clearTimeout(timer);
  return code;
}

/** Stops all at once, and says so if one does not end well. */
export async function stopWorkers(workers: readonly WorkerChild[]): Promise<void> {
  // One that is still starting does not listen to signals yet.
  await Promise.all(workers.map(({ ready }) => ready));
  const codes = await Promise.all(workers.map(stopWorker));
  const unclean = codes.filter((code) => code !== 0);
  if (unclean.length > 0) console.log(`workers that did not stop cleanly: ${unclean.join(", ")}`);
}

/** Runs the stages of a program; whatever happens, no process of ours outlives it. */
export async function onStage(play: () => Promise<{ readonly sound: boolean }>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  process.once("exit", killWorkers);
  const { sound } = await play();
  console.log(sound ? "sound" : "VIOLATED");
  if (!sound) process.exitCode = 1;
}
