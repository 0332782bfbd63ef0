/** From the call of `enqueue` to the start of the handler in a worker of another process. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, typed, type Millrace } from "millrace";
import { openRawStreams } from "./raw-streams.ts";
import { TOKEN } from "./server-process.ts";

const PROGRAM = fileURLToPath(new URL("../wake/wake-latency.child.ts", import.meta.url));
const LIST_MS = 1_000;

const timed = defineJob({ type: "timed", payload: typed<number>() });

export class LatencyWorker implements AsyncDisposable {
  readonly #child: ChildProcess;
  #next = 0;

  static async start(url: string): Promise<LatencyWorker> {
    const child = fork(PROGRAM, [url], { execArgv: ["--conditions=source"] });
    await once(child, "message");
    return new LatencyWorker(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Milliseconds of each of so many jobs, at irregular intervals. */
  async measure(mill: Millrace, jobs: number, rate: number): Promise<readonly number[]> {
    const sentAt = new Map<number, number>();
    const times: number[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const onStart = (started: { number: number; startedAt: number }): void => {
      const at = sentAt.get(started.number);
      if (at !== undefined) times.push(started.startedAt - at);
      if (times.length === jobs) resolve();
    };
    this.#child.on("message", onStart);
    for (let turn = 0; turn < jobs; turn += 1) {
      const number = (this.#next += 1);
      sentAt.set(number, Number(process.hrtime.bigint()) / 1e6);
      await mill.enqueue(timed, number);
      await sleep((1_000 / rate) * (0.5 + Math.random()));
    }
    await done;
    this.#child.off("message", onStart);
    return times;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}

/** Streams that are read, and a list request per second. */
export async function observe(origin: string, streams: number): Promise<Disposable> {
  const path = "/api/v1/events?snapshot=false";
  const opened = await openRawStreams(origin, streams, { path, reads: true });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const list = async (): Promise<void> => {
    await (await fetch(`${origin}/api/v1/jobs?limit=30`, { headers })).arrayBuffer();
  };
  const timer = setInterval(() => void list(), LIST_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const { socket } of opened) socket.destroy();
    },
  };
}
