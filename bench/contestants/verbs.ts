/** What the parent asks a child, and what it hears. */

export interface Verbs {
  enqueue: { asks: EnqueueRequest; answers: { readonly jobs: number; readonly ms: number } };
  /** Single jobs with a pause of one to two times `gapMs` before each. */
  send: { asks: { readonly jobs: number; readonly gapMs: number }; answers: void };
  /** The same jobs, each awaited. Answers how long each took from the call to its result. */
  results: { asks: { readonly jobs: number; readonly gapMs: number }; answers: Float64Array };
  work: { asks: WorkOrder; answers: void };
  stop: { asks: null; answers: WorkReport };
  weigh: { asks: null; answers: Weight };
  serve: { asks: null; answers: { readonly address: string; readonly token: string } };
  /** A plain HTTP server in the process of the contestant. Answers its port. */
  listen: { asks: null; answers: number };
  close: { asks: null; answers: void };
}

export type Verb = keyof Verbs;

export interface EnqueueRequest {
  readonly how: "single" | "concurrent" | "bulk";
  readonly jobs: number;
  readonly msMax: number;
  /** Bulk only: how far in the future the jobs are due. */
  readonly delayMs?: number;
}

export interface WorkOrder {
  readonly slots: number | null;
  /** So many handlers begin before anything is measured: the first runs of any code are slow. */
  readonly warmUp?: number;
  /** How long each handler takes, without using the processor. */
  readonly handlerMs?: number;
}

export interface WorkReport {
  /** When each handler began, and how long after its job was handed over. */
  readonly begun: Float64Array;
  readonly waited: Float64Array;
  /** Processor time from the end of the warm-up to the call of `stop`, and of how many jobs. */
  readonly cpuMs: number;
  readonly cpuJobs: number;
  /** The most memory that the process has ever had. */
  readonly peakMb: number;
  /** 99th percentile of the delay of the event loop. */
  readonly loopDelayMs: number;
}

/** Memory after a forced collection: of the process, what is alive in it, and the most ever. */
export interface Weight {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly peakMb: number;
}

export interface Question {
  readonly id: number;
  readonly verb: Verb;
  readonly value: unknown;
}

/** Number 0 is the first word of a child, -1 the count of handlers that have begun. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
