/**
 * What channels and supervisors do with a run beyond the public context. A hidden property, for the
 * same reason as in `definition.ts`: a workspace may have two copies of this package.
 */
import { MillraceError } from "../../core/errors.ts";
import type { JsonText } from "../../core/job.ts";
import type { Fault, Outcome } from "../../core/outcome.ts";
import type { JobRecord } from "../../store/types/records.ts";
import type { Context } from "../context.ts";

export interface RunInside {
  /** The maximum number of attempts of the job, the first included. */
  readonly maxAttempts: number;
  /** The time of the worker, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Throws the error on if it ends the run: a snooze, or an effect of an interruption. */
  readonly failureOf: (error: unknown) => CallFailure;
  /** Tells the breakers. Throws a snooze if they count the failure as none of this job. */
  readonly judge: (failure: CallFailure) => Promise<Fault>;
  /** The payload of the job as JSON, with the digits that are stored. */
  readonly textOf: (payload: unknown) => JsonText;
  /** What a function answers, as JSON. */
  readonly answerOf: (
    ctx: Context<any, any>,
    name: string,
    payload: JsonText,
  ) => Promise<JsonText | null>;
  /** Whether a step of the job is completed. */
  readonly isStored: (step: string) => Promise<boolean>;
  /** Ends the run with a snooze, without a charge. The ledger has the error. */
  readonly sendBack: (delayMs: number, error: unknown) => never;
  /** Tells the breaker of the declared service of a call that has succeeded. */
  readonly serviceAnswered: () => Promise<void>;
  /** A job, as the store knows it; null: there is none. */
  readonly jobOf: (id: string) => Promise<JobRecord | null>;
}

export type CallFailure = Extract<Outcome, { type: "failed" }>;

interface WithInside {
  readonly "~run"?: RunInside;
}

export function insideOf(ctx: Context<any, any> & WithInside): RunInside {
  const inside = ctx["~run"];
  if (inside !== undefined) return inside;
  const message = "channels and supervisors need the context of mill.work or of millrace/testing";
  throw new MillraceError("DEFINITION_INVALID", message);
}

/** Gives a context what {@link insideOf} finds. */
export function withInside<Ctx extends Context<any, any>>(ctx: Ctx, inside: RunInside): Ctx {
  return Object.defineProperty(ctx, "~run", { value: inside, enumerable: false });
}
