/** Two readers of the feed that go on all the while: a cursor over the store, and `mill.on`. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Millrace } from "millrace";
import type { JobStore } from "../../../../src/store/store.ts";

const PAGE = 50;
const REST_MS = 2;

/** What happened to a job, in the order in which a job meets it. */
const LIFE = ["job:enqueued", "job:started", "job:completed"] as const;
type Step = (typeof LIFE)[number];

export interface Reader {
  /** What was read of each job, in that order. */
  readonly told: ReadonlyMap<string, readonly string[]>;
  stop(): Promise<void>;
}

/** Reads page after page, each from where the one before ended, and never looks back. */
export async function followFeed(store: JobStore): Promise<Reader & { position(): number }> {
  const told = new Map<string, string[]>();
  let position = await store.feedEnd();
  let isOver = false;
  const reading = (async () => {
    for (;;) {
      const wasOver = isOver;
      const entries = await store.feed(position, PAGE);
      for (const { kind, jobs } of entries) for (const id of jobs) note(told, id, kind);
      position = entries.at(-1)?.position ?? position;
      if (entries.length > 0) continue;
      if (wasOver) return;
      await sleep(REST_MS);
    }
  })();
  return {
    told,
    position: () => position,
    async stop() {
      isOver = true;
      await reading;
    },
  };
}

/** Listens to each event by itself, as an application does. */
export function listenAll(mill: Millrace): Reader {
  const told = new Map<string, string[]>();
  const ends = LIFE.map((event) => mill.on(event, ({ id }) => note(told, id, event)));
  return {
    told,
    async stop() {
      for (const end of ends) end();
    },
  };
}

function note(told: Map<string, string[]>, id: string, event: string): void {
  const known = told.get(id) ?? [];
  known.push(event);
  told.set(id, known);
}

export interface Reading {
  readonly missed: number;
  readonly doubled: number;
  /** Jobs whose events came in another order than they happened. */
  readonly disordered: number;
}

/** `isOrdered`: one reader of all events hears them in order; listeners of each have their own. */
export function judgeReader({ told }: Reader, ids: readonly string[], isOrdered: boolean): Reading {
  const count = (id: string, step: Step): number =>
    (told.get(id) ?? []).filter((event) => event === step).length;
  const steps = ids.flatMap((id) => LIFE.map((step) => count(id, step)));
  const disordered = ids.filter((id) => {
    const events = (told.get(id) ?? []).filter((event) => LIFE.some((step) => step === event));
    return isOrdered && events.join() !== LIFE.filter((step) => events.includes(step)).join();
  });
  return {
    missed: steps.filter((times) => times === 0).length,
    doubled: steps.filter((times) => times > 1).length,
    disordered: disordered.length,
  };
}
