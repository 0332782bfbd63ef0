/**
 * The parts of a channel task. What a part has answered, or why it has failed, is stored before the
 * next part begins, so that a run after a crash repeats only the part that it interrupted.
 *
 * The names of the stored steps have the id of the job: a successor takes over what has succeeded,
 * and tries again what has failed.
 */
import { NonRetryableError } from "../core/errors.ts";
import type { ErrorClass, JsonText } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import { ANSWER_BYTES_MAX, decode, encodeResult } from "../core/payload.ts";
import { shown } from "../core/text.ts";
import { envelopeOf, failureIn, SUCCEEDED } from "../core/channels/envelope.ts";
import type { Context } from "../api/context.ts";
import { insideOf, type CallFailure } from "../api/channels/run-inside.ts";
import { awaitNewerCode } from "./newer-code.ts";
import type { ChannelTask } from "./tasks.ts";

type AnyContext = Context<any, any>;

/** Who tries again after a failure. */
export type RetryOwner = "queue" | "supervisor";

/** How often a success or error handler is called until it answers, and the waits in between. */
const REPORTS_MAX = 10;
const REPORT_WAIT_MS = 1_000;
const REPORT_WAIT_MS_MAX = 300_000;

interface Part {
  readonly name: "before" | "send";
  readonly task: ChannelTask;
  readonly ctx: AnyContext;
  readonly retryOwner: RetryOwner;
  /** Answers JSON, or throws. */
  readonly work: () => Promise<unknown>;
  /** The failure, after the breakers of services know. */
  readonly judge: (failure: CallFailure) => Promise<Fault>;
}

/** The answer is JSON. */
type Tried = { readonly answer: any } | { readonly failure: Fault };

/** The answer of a part. A final failure is reported to the error handler, then thrown. */
export async function carryOut(part: Part): Promise<any> {
  const { name, task, ctx } = part;
  let isFresh = false;
  const tried: Tried = await ctx.step(`${name} ${ctx.job.id}`, async () => {
    isFresh = true;
    return attempt(part);
  });
  if ("answer" in tried) return tried.answer;
  const { failure } = tried;
  const problem = await report(ctx, "error_handler", task, { error: failure.message });
  throw new ChannelFailed(withRemark(failure, problem), isFresh);
}

async function attempt({ name, ctx, retryOwner, work, judge }: Part): Promise<Tried> {
  try {
    const answer = await work();
    if (name === "before") return { answer: sendable(answer) };
    await insideOf(ctx).serviceAnswered();
    return { answer: storable(ctx, answer) };
  } catch (error) {
    if (name === "before" && retryOwner === "supervisor") await awaitNewerCode(ctx, error);
    const inside = insideOf(ctx);
    const failure = await judge(inside.failureOf(error));
    const isLast = ctx.attempt >= inside.maxAttempts || failure.class === "non_retryable";
    // The queue tries again: the failure is no fact yet.
    if (retryOwner === "queue" && !isLast) throw error;
    return { failure };
  }
}

/** A message that cannot be stored is not sent: a successor would send another one. */
function sendable(answer: unknown): unknown {
  try {
    return bounded(answer);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    // The message is the payload of an envelope, or of the task.
    const said = problem.replace(/^result/, "payload");
    throw new NonRetryableError(`the message cannot be stored: ${said}`, { cause });
  }
}

/** A value as it is read back, with room for what surrounds it. Throws if it cannot be stored. */
function bounded(answer: unknown): unknown {
  const { text, bytes } = encodeResult(answer);
  if (bytes <= ANSWER_BYTES_MAX) return decode(text) ?? null;
  throw new Error(`it is larger than ${ANSWER_BYTES_MAX} bytes as JSON`);
}

/** What was sent stays sent, also if the answer of the provider cannot be stored. */
function storable(ctx: AnyContext, answer: unknown): unknown {
  try {
    return bounded(answer);
  } catch (error) {
    ctx.log.warn("the answer of a channel cannot be stored, and is left out", { error });
    return null;
  }
}

/**
 * Calls the success or error handler of a task. A handler that throws is called again after a
 * growing wait: without its fact, a supervisor would not know what has happened. Answers what is
 * wrong with a handler that has failed too often, and null for one that has answered.
 */
export async function report(
  ctx: AnyContext,
  handler: "success_handler" | "error_handler",
  task: ChannelTask,
  facts: object,
): Promise<string | null> {
  const name = task[handler];
  if (name === undefined) return null;
  const payload = handlerPayload(insideOf(ctx).textOf(task), facts);
  for (let n = 1; ; n += 1) {
    const { isFresh, problem } = await reportOnce(ctx, { handler, name, n }, payload);
    if (problem === null) return null;
    if (n === REPORTS_MAX) return `the handler ${name} has failed ${n} times: ${problem}`;
    if (isFresh) ctx.snooze(Math.min(REPORT_WAIT_MS * 2 ** (n - 1), REPORT_WAIT_MS_MAX));
  }
}

/** Both parts were stored, so the whole needs no limit of its own. */
function handlerPayload(task: JsonText, facts: object): JsonText {
  const rest = JSON.stringify(facts).slice(1);
  return `{"original_payload":${task},${rest}`;
}

async function reportOnce(
  ctx: AnyContext,
  { handler, name, n }: { handler: string; name: string; n: number },
  payload: JsonText,
): Promise<{ readonly isFresh: boolean; readonly problem: string | null }> {
  let isFresh = false;
  const problem = await ctx.step(`${handler} ${ctx.job.id} ${n}`, async () => {
    isFresh = true;
    try {
      logStatus(ctx, name, envelopeOf(await answerTo(ctx, name, payload), subjectOf(name)).status);
      return null;
    } catch (error) {
      const { message } = insideOf(ctx).failureOf(error).fault;
      ctx.log.warn(`the ${handler} ${name} failed`, { error });
      return message;
    }
  });
  return { isFresh, problem };
}

/** What has happened stays the failure of the task, whatever is wrong with its handler. */
function withRemark(failure: Fault, problem: string | null): Fault {
  return problem === null ? failure : { ...failure, message: `${failure.message} (${problem})` };
}

/** The message that the before handler of a task answers. */
export async function prepared(ctx: AnyContext, task: ChannelTask): Promise<unknown> {
  const name = task.before_handler;
  if (name === undefined) return task;
  const answered = await answerTo(ctx, name, insideOf(ctx).textOf(task));
  const envelope = envelopeOf(answered, subjectOf(name));
  logStatus(ctx, name, envelope.status);
  const failure = failureIn(envelope, `the before handler ${name}`);
  if (failure === null) return envelope.payload;
  throw new Unprepared(failure.message, failure.class);
}

function subjectOf(name: string): string {
  return `the function ${shown(name)}`;
}

/** The payload goes to the function with the digits that are stored. */
async function answerTo(ctx: AnyContext, name: string, payload: JsonText): Promise<unknown> {
  return decode(await insideOf(ctx).answerOf(ctx, name, payload));
}

/** An outcome other than success is no error of the worker, and is not hidden either. */
export function logStatus(ctx: AnyContext, name: string, status: string): void {
  if (status === SUCCEEDED) return;
  ctx.log.warn(`task ${ctx.job.id}: ${name} answered the status ${status}`, {
    function: name,
    status,
  });
}

/** A failure before the provider was called says nothing about the service. */
export async function ofNoService({ fault }: CallFailure): Promise<Fault> {
  const { service: _service, ...own } = fault;
  return own.class === "non_retryable" ? own : { ...own, class: "retryable" };
}

class Unprepared extends Error {
  static {
    this.prototype.name = "BeforeHandlerFailed";
  }

  readonly #class: ErrorClass;

  constructor(message: string, errorClass: ErrorClass) {
    super(message);
    this.#class = errorClass;
  }

  get "~class"(): ErrorClass {
    return this.#class;
  }
}

/** The failure of a part, as the ledger gets it. */
class ChannelFailed extends Error {
  readonly service: string | undefined;
  readonly #class: ErrorClass;

  /** A failure of an earlier run is not told to the breakers again. */
  constructor(failure: Fault, isFresh: boolean) {
    const { service: _service, ...stale } = failure;
    const fault: Fault = isFresh ? failure : stale;
    super(fault.message);
    this.name = fault.name;
    if (fault.stack !== undefined) this.stack = fault.stack;
    this.service = fault.service;
    this.#class = fault.class;
  }

  get "~class"(): ErrorClass {
    return this.#class;
  }
}
