/** A job as callers see it. */
import type { PayloadArgs } from "./enqueue.ts";

/** Name, payload and result of a job. Carries no handler, so that a web app may import it. */
export interface JobContract<Name extends string, Input, Result> {
  readonly type: Name;
  readonly "~types"?: { input: Input; result: Result };
  /** A request to enqueue later: `mill.enqueueMany([email.of({…}), resize.of({…})])`. */
  of(...args: PayloadArgs<Input>): JobRequest<Result>;
}

/** One job to be: a contract with the payload and options of one call. */
export interface JobRequest<Result> {
  readonly type: string;
  readonly "~result"?: Result;
}
