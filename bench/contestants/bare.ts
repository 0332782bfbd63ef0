/** The bare loop as a contestant: callers of one turn of the event loop share a commit. */
import { BareLoop } from "./bare-sqlite.ts";
import type { Payload, System, WorkOptions } from "./system.ts";

const BATCH = 100;

export async function open(url: string): Promise<System> {
  const loop = new BareLoop(url.slice("sqlite:".length));
  let waiting: { payload: string; stored: () => void }[] = [];

  const commit = (): void => {
    const calls = waiting;
    waiting = [];
    loop.enqueue(calls.map(({ payload }) => payload));
    for (const { stored } of calls) stored();
  };

  return {
    enqueue: (payload) =>
      new Promise<void>((stored) => {
        if (waiting.length === 0) queueMicrotask(commit);
        waiting.push({ payload: JSON.stringify(payload), stored });
      }),
    enqueueMany: async (payloads) => loop.enqueue(payloads.map((each) => JSON.stringify(each))),
    work: async (options) => drain(loop, options),
    close: async () => loop.close(),
  };
}

function drain(loop: BareLoop, { began }: WorkOptions): () => Promise<void> {
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    for (const text of loop.turn(BATCH)) {
      const payload: Payload = JSON.parse(text);
      void began(payload);
    }
    setImmediate(turn);
  };
  setImmediate(turn);
  return async () => {
    isOver = true;
  };
}
