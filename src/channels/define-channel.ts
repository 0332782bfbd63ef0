/** `defineChannel`: a job that sends messages through a provider, and reports to handlers. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { durationMs, type Duration } from "../core/duration.ts";
import { NonRetryableError } from "../core/errors.ts";
import { succeededWith, type Envelope } from "../core/channels/envelope.ts";
import type { Context } from "../api/context.ts";
import { defineJob } from "../api/define.ts";
import { calledBy } from "../api/definition.ts";
import { insideOf, withInside } from "../api/channels/run-inside.ts";
import type { Job } from "../api/job.ts";
import {
  aFunction,
  aName,
  anObject,
  insist,
  isDuration,
  isObject,
  must,
  type Rule,
} from "../api/rules.ts";
import { SETTING_RULES, type JobSettings } from "../api/settings.ts";
import { parsePayload } from "../jobs/new-job.ts";
import { carryOut, ofNoService, prepared, report, type RetryOwner } from "./carry-out.ts";
import { CHANNEL_TASK, type ChannelTask } from "./tasks.ts";

/** The settings of a channel: those of a job. A run always continues where the last one stopped. */
export interface ChannelSettings extends Omit<JobSettings, "onRetry"> {
  /** How long `send` may take. Default 60 s. */
  readonly sendTimeout?: Duration;
}

export interface ChannelDefinition<Name extends string, Message> extends ChannelSettings {
  readonly type: Name;
  /** Checks the message before it is sent. A message that does not fit is not sent. */
  readonly message?: StandardSchemaV1<any, Message>;
  /**
   * Sends the message. Returns what the success handler gets as `worker_payload`, throws if the
   * message was not sent. May be called twice for one message if the worker dies in between: pass
   * `ctx.job.id` on to providers that know idempotency keys.
   */
  readonly send: (message: Message, ctx: Context<{}, {}>) => unknown;
}

/** A channel, for `jobs` of `mill.work` and for `mill.enqueue`. */
export type Channel<Name extends string> = Job<Name, ChannelTask, Envelope>;

const SEND_MS_MAX = 60_000;

/** One rule per setting; `onRetry` is none of them. */
export const CHANNEL_RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(Object.entries(SETTING_RULES).filter(([name]) => name !== "onRetry")),
  sendTimeout: must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "30s"'),
};

const DEFINITION = anObject(
  {
    required: { type: aName, send: aFunction },
    optional: {
      ...CHANNEL_RULES,
      message: must(isSchema, "a Standard Schema or typed<…>()"),
    },
  },
  'an object such as { type: "push", send: async (message) => ({ id }) }',
);

/**
 * Declares a channel: a job type whose tasks prepare a message, send it, and report what has
 * happened. The three parts are stored one by one. By default a supervisor owns the retries: a task
 * completes also when its message was not sent, and the ledger of the job has the failure.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { typed } from "millrace";
 * import { defineChannel } from "millrace/channels";
 * import { createTestMill } from "millrace/testing";
 *
 * const push = defineChannel({
 *   type: "push",
 *   message: typed<{ device: string; text: string }>(),
 *   send: async ({ device }) => ({ id: `apns-${device}` }),
 * });
 *
 * const facts: unknown[] = [];
 * const functions = {
 *   "push.message": ({ attempt }: { attempt: number }) => ({
 *     status: "succeeded",
 *     payload: { device: "d1", text: `attempt ${attempt}` },
 *   }),
 *   "push.sent": (fact: unknown) => {
 *     facts.push(fact);
 *     return { status: "succeeded" };
 *   },
 * };
 *
 * await using test = await createTestMill();
 * const task = { attempt: 7, before_handler: "push.message", success_handler: "push.sent" };
 * await test.mill.enqueue(push, task);
 * await test.drain([push], { functions });
 * assert.deepEqual(facts, [{ original_payload: task, worker_payload: { id: "apns-d1" } }]);
 * ```
 */
export function defineChannel<const Name extends string, Message = any>(
  definition: ChannelDefinition<Name, Message>,
): Channel<Name> {
  insist(subjectOf(definition), DEFINITION, definition, "");
  const { type, message, send, sendTimeout, ...settings } = definition;
  const retryOwner = settings.retryOwner ?? "supervisor";
  const limitMs = durationMs(sendTimeout ?? SEND_MS_MAX, "sendTimeout");
  const sender: Sender = { type, message, send, limitMs, retryOwner };
  const channel = defineJob({
    ...settings,
    type,
    payload: CHANNEL_TASK,
    retryOwner,
    onRetry: "resume",
  })
    .phase("before", (task, ctx) => prepare(sender, task, ctx))
    .phase("send", (task, ctx) => sendMessage(sender, task, ctx))
    .phase("record", (task, ctx) => record(task, ctx));
  // What is left to do after the message was sent needs no service.
  return calledBy(channel, { phase: "send", unit: "send" });
}

interface Sender {
  readonly type: string;
  readonly message: StandardSchemaV1 | undefined;
  readonly send: (message: any, ctx: Context<{}, {}>) => unknown;
  readonly limitMs: number;
  readonly retryOwner: RetryOwner;
}

function prepare({ retryOwner }: Sender, task: ChannelTask, ctx: Context<any, any>) {
  const work = (): Promise<unknown> => prepared(ctx, task);
  return carryOut({ name: "before", task, ctx, retryOwner, work, judge: ofNoService });
}

function sendMessage(sender: Sender, task: ChannelTask, ctx: Context<any, any>) {
  const { retryOwner, limitMs } = sender;
  const work = async (): Promise<unknown> => {
    const message = await accepted(sender, ctx.results.before);
    return ctx.timeout(limitMs, (signal) => sender.send(message, within(ctx, signal)));
  };
  const { judge } = insideOf(ctx);
  return carryOut({ name: "send", task, ctx, retryOwner, work, judge });
}

/** The context of `send`, whose time limits end with that of `send`. */
function within(ctx: Context<any, any>, signal: AbortSignal): Context<{}, {}> {
  type Work<R> = (signal: AbortSignal) => R | Promise<R>;
  const limited =
    <R>(fn: Work<R>): Work<R> =>
    (own) =>
      fn(AbortSignal.any([own, signal]));
  const inner: Context<{}, {}> = {
    ...ctx,
    signal,
    timeout: (limit, fn) => ctx.timeout(limit, limited(fn)),
    breaker: (service, fn) => ctx.breaker(service, limited(fn)),
  };
  return withInside(inner, insideOf(ctx));
}

async function record(task: ChannelTask, ctx: Context<any, any>): Promise<Envelope> {
  const answer: unknown = ctx.results.send;
  const problem = await report(ctx, "success_handler", task, { worker_payload: answer });
  // The message was sent: a supervisor that counted this as a failure would send it again.
  if (problem !== null) ctx.log.error(`task ${ctx.job.id} was sent, but ${problem}`);
  return succeededWith(answer);
}

/** A message that does not fit would not fit in a retry either. */
async function accepted({ type, message: schema }: Sender, message: unknown): Promise<unknown> {
  if (schema === undefined) return message;
  try {
    return await parsePayload(type, schema, message);
  } catch (cause) {
    throw new NonRetryableError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function subjectOf(definition: unknown): string {
  const type = isObject(definition) ? definition["type"] : undefined;
  return typeof type === "string" ? `channel "${type}"` : "defineChannel";
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === "function" ? "~standard" in Object(value) : false;
}
