/** `ctx.callFunction`: a function of the worker, or else of the database. */
import { envelopeOf, type Envelope } from "../../core/channels/envelope.ts";
import type { JsonText } from "../../core/job.ts";
import { decode, encodePayload, encodeResult } from "../../core/payload.ts";
import { shown } from "../../core/text.ts";
import type { Context } from "../../api/context.ts";
import type { NamedFunctions } from "../../api/channels/functions.ts";
import { aName } from "../../api/rules.ts";
import { insistOn } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";
import type { CallLimits } from "../../store/types/services.ts";

export interface FunctionParts {
  readonly functions: NamedFunctions;
  readonly store: Pick<JobStore, "runFunction">;
  /** How long a function of the database may take. */
  readonly limits?: CallLimits;
}

/** A function as a run calls it: JSON in, JSON out. */
export type AnswerOf = (
  ctx: Context<any, any>,
  name: string,
  payload: JsonText,
) => Promise<JsonText | null>;

/** Payload and answer are JSON on either side, so that a function may move into the database. */
export async function callFunction(
  { answerOf: ask }: { readonly answerOf: AnswerOf },
  ctx: Context<any, any>,
  name: string,
  payload: unknown,
): Promise<Envelope> {
  insistOn("ctx.callFunction", aName, name, "name");
  const answer = await ask(ctx, name, encodePayload(payload ?? {}).text ?? "{}");
  return envelopeOf(decode(answer), `the function ${shown(name)}`);
}

export async function answerOf(
  { functions, store, limits = {} }: FunctionParts,
  ...[ctx, name, payload]: Parameters<AnswerOf>
): Promise<JsonText | null> {
  const named = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (named === undefined) return store.runFunction(name, payload, limits);
  return encodeResult(await named(decode(payload), ctx)).text;
}
