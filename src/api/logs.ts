/** The log lines of a job, as `jobs.logs` returns them. */
import type { Json } from "../core/payload.ts";

/** One line of `ctx.log`. */
export interface LogView {
  /** The number of the line within its job. A gap means that lines were removed. */
  readonly line: number;
  /** The number of the run that wrote the line, as in `jobs.attempts`. */
  readonly attempt: number;
  /** The time by the clock of the worker. */
  readonly at: Date;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** `null` when the call had no fields. */
  readonly fields: Readonly<Record<string, Json>> | null;
}

/** The lines that `jobs.logs` returns. */
export interface LogPage {
  /** Only lines after this line: the `next` of the previous page, or the last known line. */
  after?: number;
  /** The maximum number of lines. Default 50, at most 1,000. */
  limit?: number;
}
