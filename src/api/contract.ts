/** The part of a job that callers need. */
import type { PayloadArgs } from "./enqueue.ts";

/** The type, payload and result of a job, without a handler, so that a web app can import it. */
export interface JobContract<Name extends string, Input, Result> {
  readonly type: Name;
  readonly "~types"?: { input: Input; result: Result };
  /** Makes a request for `enqueueMany`: `mill.enqueueMany([email.of({…}), resize.of({…})])`. */
  of(...args: PayloadArgs<Input>): JobRequest<Result>;
}

/** A contract with the payload and options of one job to enqueue. */
export interface JobRequest<Result> {
  readonly type: string;
  readonly "~result"?: Result;
}
