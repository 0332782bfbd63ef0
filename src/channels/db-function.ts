/** `dbFunction`: a job whose work is a function, of the database or of the worker. */
import { envelopeOf, type Envelope } from "../core/channels/envelope.ts";
import { encodeResult } from "../core/payload.ts";
import { shown } from "../core/text.ts";
import { insideOf } from "../api/channels/run-inside.ts";
import type { Context } from "../api/context.ts";
import { defineJob } from "../api/define.ts";
import type { Job } from "../api/job.ts";
import { aName, anObject, insist } from "../api/rules.ts";
import type { JobSettings } from "../api/settings.ts";
import { SETTING_RULES } from "../api/settings.ts";
import { readExactly } from "../lib/exact-json.ts";
import { logStatus } from "./carry-out.ts";
import { awaitNewerCode } from "./newer-code.ts";
import { FUNCTION_TASK, type FunctionTask } from "./tasks.ts";

const DEFINITION = anObject(
  { required: {}, optional: { ...SETTING_RULES, type: aName } },
  'an object such as { type: "db_function" }',
);

/**
 * Declares the job type whose tasks call the function that their payload names. The function gets
 * the whole payload. Its envelope is the result of the job: an outcome other than success is logged
 * and is no failure. If the function raises, the run fails, and the queue tries again, unless
 * `retryOwner` says that a supervisor does.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { dbFunction } from "millrace/channels";
 * import { createTestMill } from "millrace/testing";
 *
 * const work = dbFunction();
 * const functions = {
 *   "accounts.anonymize": ({ account }: { account: number }) =>
 *     account === 7 ? { status: "succeeded" } : { status: "account_not_found" },
 * };
 *
 * await using test = await createTestMill();
 * const task = { db_function: "accounts.anonymize", account: 8 };
 * const job = await test.mill.enqueue(work, task);
 * await test.drain([work], { functions });
 * assert.equal((await test.mill.result(job)).status, "account_not_found");
 * ```
 */
export function dbFunction<const Name extends string = "db_function">(
  definition: JobSettings & { readonly type?: Name } = {},
): Job<Name, FunctionTask, Envelope> {
  insist("dbFunction", DEFINITION, definition, "");
  const { type = "db_function", ...settings } = definition;
  const job = defineJob({ ...settings, type, payload: FUNCTION_TASK }).run(async (task, ctx) => {
    const envelope = await called(ctx, task).catch(async (error) => {
      if (settings.retryOwner === "supervisor") await awaitNewerCode(ctx, error);
      throw error;
    });
    logStatus(ctx, task.db_function, envelope.status);
    return storable(ctx, envelope);
  });
  // The default type has the name of the type parameter, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows it.
  return job as unknown as Job<Name, FunctionTask, Envelope>;
}

/** Payload and answer keep the digits that JavaScript cannot hold. */
async function called(ctx: Context<any, any>, task: FunctionTask): Promise<Envelope> {
  const inside = insideOf(ctx);
  const name = task.db_function;
  const answer = await inside.answerOf(ctx, name, inside.textOf(task));
  return envelopeOf(readExactly(answer ?? "null"), `the function ${shown(name)}`);
}

/** The function has run: its status stays, also if its payload cannot be stored. */
function storable(ctx: Context<any, any>, envelope: Envelope): Envelope {
  try {
    encodeResult(envelope);
    return envelope;
  } catch (error) {
    ctx.log.warn("the payload of a function cannot be stored, and is left out", { error });
    return { ...envelope, payload: null };
  }
}
