/**
 * What a benchmark asks of a job system, ours or another. Each contestant implements this and
 * nothing else: loops, clocks and arithmetic are the same for all (`child.ts`).
 */

/** About a hundred bytes, as most queues carry. */
export interface Payload {
  readonly to: string;
  readonly text: string;
  /** When it was handed over, on the clock of {@link instant}. */
  readonly at: number;
}

export interface System {
  /** One job, durable as soon as this resolves. */
  enqueue(payload: Payload): Promise<unknown>;

  /** Many jobs in one call; absent where a system has no such call. */
  enqueueMany?(payloads: readonly Payload[], options: { delayMs: number }): Promise<unknown>;

  /** Runs jobs from now on, and tells of each as its handler begins. Answers how to stop. */
  work(options: WorkOptions): Promise<() => Promise<void>>;

  /** Enqueues a job and resolves with its result; absent where a system has no results. */
  result?(payload: Payload): Promise<unknown>;
  /** Serves HTTP from the same process; absent where a system does not. */
  serve?(): Promise<{ readonly address: string; readonly token: string }>;

  close(): Promise<void>;
}

export interface WorkOptions {
  /** Called by every handler, which ends with it. */
  readonly began: (payload: Payload) => void | Promise<void>;
  /** Handlers at the same time; `null` for the default of the contestant's settings. */
  readonly slots: number | null;
}

/** What the module of a system exports. `variant` picks one of several settings, if it has any. */
export type OpenSystem = (url: string, variant: string | null) => Promise<System>;

const bootToStart = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds on a clock that all processes of one machine share. */
export function instant(): number {
  return bootToStart + performance.now();
}

export function newPayload(): Payload {
  return { to: "ada@example.org", text: "x".repeat(46), at: instant() };
}
