/** `mill.about`: which installation this is, as far as this process knows. */
import type { FinalState } from "../../core/job.ts";
import type { StorePlace } from "../../store/store.ts";

export interface About {
  /**
   * The name of a store is that of the file without its folder, `:memory:`, or that of the
   * database; `null` if the pool of the application does not tell it.
   */
  readonly store: StorePlace;
  /** The version of Millrace in this process. */
  readonly version: string;
  /**
   * What the workers of this process remove, and when. `null`: no worker was started here, and
   * what other processes remove is not known.
   */
  readonly retention: AboutRetention | null;
}

/** Periods in milliseconds. */
export interface AboutRetention {
  /** By final state, from the end of a job. */
  readonly finishedMs: Readonly<Record<FinalState, number>>;
  readonly deadLetterMs: number;
  readonly idempotencyMs: number;
  readonly eventMs: number;
  readonly minutesMs: number;
  readonly auditMs: number;
}
