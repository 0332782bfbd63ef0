/** Jobs at a steady rate, one worker process, and how long each job waited for its handler. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";

const PROGRAM = fileURLToPath(new URL("worker.child.ts", import.meta.url));
const TICK_MS = 10;
/** Beyond so many seconds of work that waits, a job counts as not started. */
const DRAIN_MS_MAX = 30_000;

const timed = defineJob({ type: "timed", payload: typed<number>() });

/** What the worker process is told. */
export interface WorkerSettings {
  readonly url: string;
  readonly slots: number;
  readonly handlerMs: number;
  readonly keptMs: number;
}

/** The monotonic clock has the same origin in all processes of a host. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class PacedJobs implements AsyncDisposable {
  readonly #mill: Millrace;
  readonly #worker: ChildProcess;
  /** When each job was enqueued, by its number. */
  readonly #sentAt: number[] = [];
  /** Milliseconds from `enqueue` to the handler, by the number of the job. */
  readonly #delays: number[] = [];
  #started = 0;
  #failure: unknown = null;

  static async open(settings: WorkerSettings): Promise<PacedJobs> {
    const jobs = new PacedJobs(await openMillrace(settings.url), settings);
    await once(jobs.#worker, "message");
    return jobs;
  }

  private constructor(mill: Millrace, settings: WorkerSettings) {
    this.#mill = mill;
    this.#worker = fork(PROGRAM, [JSON.stringify(settings)], { execArgv: ["--conditions=source"] });
    this.#worker.on("message", (begun: readonly [number, number][]) => {
      for (const [number, at] of begun) {
        this.#delays[number] = at - this.#sentAt[number]!;
        this.#started += 1;
      }
    });
  }

  /**
   * Sends so many jobs a second. Answers their start delays when all have started; jobs that have
   * not started within half a minute after the last one was sent have waited at least so long.
   */
  async send(rate: number, seconds: number): Promise<readonly number[]> {
    const first = this.#sentAt.length;
    const count = rate * seconds;
    const began = now();
    while (this.#sentAt.length < first + count) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#worker.exitCode !== null) throw new Error("the worker has ended");
      const due = Math.min(count, Math.floor(((now() - began) * rate) / 1_000));
      while (this.#sentAt.length < first + due) this.#enqueue();
      await sleep(TICK_MS);
    }
    const deadline = now() + DRAIN_MS_MAX;
    while (this.#started < first + count && now() < deadline) await sleep(TICK_MS);
    return Array.from({ length: count }, (_, place) => {
      const number = first + place;
      return this.#delays[number] ?? now() - this.#sentAt[number]!;
    });
  }

  #enqueue(): void {
    const number = this.#sentAt.push(now()) - 1;
    this.#mill.enqueue(timed, number).catch((error: unknown) => (this.#failure ??= error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#worker.exitCode === null) {
      const ended = once(this.#worker, "exit");
      this.#worker.disconnect();
      await ended;
    }
    await this.#mill.close();
  }
}
