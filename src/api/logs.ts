/** What the handlers of a job have logged, as it is shown. */
import type { Json } from "../core/payload.ts";

/** One line of `ctx.log`. */
export interface LogView {
  /** Grows from line to line of one job; a gap says that lines are no longer kept. */
  readonly line: number;
  /** The number of the run that said it, as in `jobs.attempts`. */
  readonly attempt: number;
  /** By the clock of its worker. */
  readonly at: Date;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** Null: none were given. */
  readonly fields: Readonly<Record<string, Json>> | null;
}

/** Which lines. */
export interface LogPage {
  /** Only lines after this one: the `next` of the page before, or the last line that was seen. */
  after?: number;
  /** Most to answer: 50 unless told, 1,000 at most. */
  limit?: number;
}
