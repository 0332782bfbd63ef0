/** The job that is cancelled around the borders of its phases. */
import { defineJob, typed } from "millrace";

/** Who cancels, and at which of the two borders. */
export interface Cancellation {
  readonly way: Way;
  /** 1: between the first phase and the second. */
  readonly border: number;
  /** How long the cancel waits when it could come. */
  readonly delayMs: number;
}

/**
 * `handler`: on its last line, the phase before the border cancels its own job. `listener`: a
 * listener that hears that the phase is completed. `clock`: a timer that knows nothing of phases.
 */
export type Way = "handler" | "listener" | "clock";

export const PHASES = ["one", "two", "three"] as const;

/** What a phase is given. */
export interface Scene {
  readonly job: { readonly id: string };
  readonly lease: { readonly fence: number };
  readonly signal: AbortSignal;
}

type Acting = (cancellation: Cancellation, scene: Scene) => Promise<string>;

/** The job, whose phases do as they are told. Who only enqueues it tells them nothing. */
export function borderedJob(acting: (phase: (typeof PHASES)[number]) => Acting = idle) {
  return defineJob({ type: "bordered", payload: typed<Cancellation>(), timeout: false })
    .phase("one", acting("one"))
    .phase("two", acting("two"))
    .phase("three", acting("three"));
}

function idle(phase: string): Acting {
  return () => Promise.resolve(phase);
}

/** `cut`: the handler was told to stop before it had ended. */
export interface BorderLine {
  readonly job: string;
  readonly phase: string;
  readonly fence: number;
  readonly what: "begin" | "end" | "cut";
}

export interface BorderSettings {
  readonly url: string;
  readonly log: string;
  readonly slots: number;
  readonly leaseMs: number;
}
