/**
 * Jobs flow through a queue that is never deeper than so many, and go soon after their end, as the
 * worker's own duty removes them. Sizes are read on the way.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "pg";
import { openMillrace } from "millrace";
import type { JobRequest, Millrace } from "millrace";
import { makePostgresStore } from "../../../../src/store/postgres/create.ts";
import { workerInfo } from "../../../../test/support/factories.ts";
import { connect } from "../../../../test/support/postgres.ts";
import { drop } from "./flow.ts";
import type { FlowSettings } from "./flow.ts";
import { percentile } from "../percentile.ts";
import { higher, isVacuumed, readSizes, tablesInUse } from "./sizes.ts";
import type { Size } from "./sizes.ts";
import { until } from "../until.ts";

const SLOTS = 500;
const BATCH = 250;
const KEPT_MS = 3_000;
const CLAIMS = 51;
const WARM_UP_STEP = 10_000;
const MEASURE_EVERY_MS = 2_000;
const GONE_MS_MAX = 120_000;
const PROGRAM = fileURLToPath(new URL("flow.child.ts", import.meta.url));

/** The state after so many jobs. */
export interface Reading {
  readonly jobs: number;
  readonly jobsPerSecond: number;
  /** Half of the claims of one job took longer. */
  readonly claimMs: number;
  /** The largest since the reading before. */
  readonly sizes: readonly Size[];
}

interface FlowOptions {
  /** Readings are taken after so many jobs; the last but one also waits for autovacuum. */
  readonly marks: readonly number[];
  readonly depth: number;
}

export interface FlowFigures {
  readonly readings: readonly Reading[];
  /** Tables in which rows are left although everything has expired. */
  readonly left: readonly string[];
}

/** Lets jobs flow until the last mark, reads on the way, and looks at what stays. */
export async function playFlow(
  url: string,
  { marks, depth }: FlowOptions,
  heard: (reading: Reading) => void,
): Promise<FlowFigures> {
  await using flow = await Flow.open(url, depth);
  await flow.vacuumOften();
  const readings: Reading[] = [];
  let [before, began] = [0, performance.now()];
  for (const [index, mark] of marks.entries()) {
    await flow.until(mark);
    if (index === marks.length - 2) await flow.warmUp();
    const seconds = (performance.now() - began) / 1000;
    const jobs = flow.enqueued;
    const [sizes, claimMs] = [await flow.sizes(), await flow.claimMs()];
    const reading = { jobs, jobsPerSecond: (jobs - before) / seconds, claimMs, sizes };
    heard(reading);
    readings.push(reading);
    [before, began] = [flow.enqueued, performance.now()];
  }
  return { readings, left: await flow.left() };
}

class Flow implements AsyncDisposable {
  readonly #url: string;
  readonly #depth: number;
  readonly #mill: Millrace;
  readonly #worker: ChildProcess;
  #peaks: readonly Size[] = [];
  #measureAt = 0;
  #enqueued = 0;
  #ended = 0;

  static async open(url: string, depth: number): Promise<Flow> {
    const flow = new Flow(url, depth, await openMillrace(url));
    await once(flow.#worker, "message");
    return flow;
  }

  private constructor(url: string, depth: number, mill: Millrace) {
    this.#url = url;
    this.#depth = depth;
    this.#mill = mill;
    const settings: FlowSettings = { url, slots: SLOTS, keptMs: KEPT_MS };
    this.#worker = fork(PROGRAM, [JSON.stringify(settings)], { execArgv: ["--conditions=source"] });
    this.#worker.on("message", (ended: number) => (this.#ended = ended));
  }

  /** Enqueues as fast as the queue empties, until so many jobs have been enqueued in all. */
  async until(mark: number): Promise<void> {
    while (this.#enqueued < mark) {
      if (this.#worker.exitCode !== null) throw new Error("the worker has ended");
      if (performance.now() > this.#measureAt) await this.#measure();
      if (this.#enqueued - this.#ended >= this.#depth) {
        await sleep(1);
        continue;
      }
      const requests = Array.from({ length: BATCH }, (_, place) => request(this.#enqueued + place));
      this.#enqueued += BATCH;
      await this.#mill.enqueueMany(requests);
    }
  }

  get enqueued(): number {
    return this.#enqueued;
  }

  /** By default the server looks for dead rows once a minute: that is a million jobs. */
  async vacuumOften(): Promise<void> {
    await this.#ask(async (client) => {
      await client.query("ALTER SYSTEM SET autovacuum_naptime = '10s'");
      await client.query("SELECT pg_reload_conf()");
    });
  }

  /** Until the server has looked for dead rows a few times, every table and index grows. */
  async warmUp(): Promise<void> {
    while (!(await this.#ask(isVacuumed))) await this.until(this.#enqueued + WARM_UP_STEP);
  }

  /** The largest size of each since this was last asked. */
  async sizes(): Promise<readonly Size[]> {
    await this.#measure();
    const peaks = this.#peaks;
    this.#peaks = [];
    return peaks;
  }

  /** Vacuum cuts off empty ends, so a single look may come right before or right after. */
  async #measure(): Promise<void> {
    this.#peaks = higher(this.#peaks, await this.#ask((client) => readSizes(client, "millrace")));
    this.#measureAt = performance.now() + MEASURE_EVERY_MS;
  }

  /** Which tables still hold something when all has had its time to go. */
  async left(): Promise<readonly string[]> {
    let left: readonly string[] = [];
    const gone = until("everything has gone", GONE_MS_MAX, async () => {
      left = await this.#ask(tablesInUse);
      return left.length === 0;
    });
    await gone.catch(() => {});
    return left;
  }

  async #ask<Answer>(question: (client: Client) => Promise<Answer>): Promise<Answer> {
    const client = await connect(this.#url);
    try {
      return await question(client);
    } finally {
      await client.end();
    }
  }

  /** A second worker takes one job at a time, and gives it back. */
  async claimMs(): Promise<number> {
    const store = makePostgresStore({ url: this.#url });
    await store.open();
    const worker = workerInfo();
    await store.register(worker);
    await this.#mill.enqueueMany(Array.from({ length: BATCH }, (_, place) => request(place)));
    this.#enqueued += BATCH;
    const times: number[] = [];
    while (times.length < CLAIMS) {
      const began = performance.now();
      const { lease, jobs } = await store.claim({
        worker: worker.id,
        lanes: ["general"],
        limit: 1,
        prefetch: true,
      });
      times.push(performance.now() - began);
      const keys = jobs.map(({ key }) => key);
      if (lease !== null) await store.returnPrefetched(lease, keys);
    }
    await store.deregister(worker.id);
    await store.close();
    return percentile(times, 0.5);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#worker.connected) {
      this.#worker.send("stop");
      await once(this.#worker, "exit");
    }
    await this.#mill.close();
  }
}

/** One in fifty has keys and a tag, one in a hundred fails, one in a hundred waits for its time. */
function request(number: number): JobRequest<unknown> {
  const payload = { number, fails: number % 100 === 1 };
  if (number % 50 === 0) {
    const tags = { hundred: String(number % 100) };
    return drop.of(payload, { idempotencyKey: `${number}`, tags });
  }
  return drop.of(payload, number % 100 === 2 ? { delay: 200 } : {});
}
