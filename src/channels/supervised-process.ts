/**
 * A supervised process: carries out what follows from the facts about its attempts. The facts are
 * stored steps of the supervisor's job: that an attempt was made, and how it has ended.
 */
import type { BackoffPolicy } from "../core/backoff.ts";
import { failureIn, isEnvelope, succeededWith, type Envelope } from "../core/channels/envelope.ts";
import { supervise, type AttemptFact } from "../core/channels/supervise.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { isFinal, type JsonText } from "../core/job.ts";
import { ANSWER_BYTES_MAX, decode, encodeResult } from "../core/payload.ts";
import { utf8Bytes } from "../core/text.ts";
import type { Context } from "../api/context.ts";
import { requestOf, type RequestParts } from "../api/definition.ts";
import { insideOf } from "../api/channels/run-inside.ts";
import { readExactly } from "../lib/exact-json.ts";
import type { JobRecord } from "../store/types/records.ts";
import type {
  SupervisedStuck,
  SupervisedSuccess,
  SupervisorBackoff,
  SupervisorDefinition,
} from "./supervisor.ts";

type AnyContext = Context<{}, {}>;

const ATTEMPTS_MAX = 5;
const BACKOFF: SupervisorBackoff = { kind: "exponential", base: "10s" };
const CAP_MS = 3_600_000;

/** The end of an attempt, as the supervisor stores it. */
type AttemptEnd =
  | {
      readonly state: "succeeded";
      readonly result: any;
      /** The JSON of a result with numbers that JavaScript cannot hold. */
      readonly exactly?: JsonText;
    }
  | Extract<AttemptFact, { state: "failed" }>;

const NOTHING = { state: "succeeded", result: null } as const;

export class SupervisedProcess {
  readonly #definition: SupervisorDefinition<string, any>;
  readonly #backoff: BackoffPolicy;

  constructor(definition: SupervisorDefinition<string, any>) {
    this.#definition = definition;
    this.#backoff = backoffOf(definition.backoff ?? BACKOFF);
  }

  /**
   * Decides with the facts that are known, and adds the next fact, until the process waits or is
   * over. A run after a wait decides the same again, up to the point at which it has waited.
   */
  async carryOn(task: any, ctx: AnyContext): Promise<Envelope> {
    const { maxAttempts = ATTEMPTS_MAX } = this.#definition;
    const rule = { maxAttempts, backoff: this.#backoff };
    const facts: (AttemptEnd | Extract<AttemptFact, { state: "outstanding" }>)[] = [];
    for (;;) {
      const decided = supervise(facts, insideOf(ctx).now(), rule);
      switch (decided.next) {
        case "start":
          facts.push(await this.#fact(task, decided.n, ctx));
          break;
        case "wait":
          return ctx.snooze(decided.delayMs);
        case "succeeded": {
          const fact = facts[decided.n - 1];
          return this.#succeed(task, decided.n, fact?.state === "succeeded" ? fact : NOTHING, ctx);
        }
        case "stuck": {
          const { failures: attempts, message } = decided;
          return this.#stick(task, { attempts, message }, ctx);
        }
      }
    }
  }

  /** The n-th attempt: made now, unless it was made before, and its end, if it has ended. */
  async #fact(
    task: any,
    n: number,
    ctx: AnyContext,
  ): Promise<AttemptEnd | { readonly state: "outstanding"; readonly startedAt: number }> {
    const inside = insideOf(ctx);
    // The job of the attempt is stored in the transaction that stores the step.
    const made = await ctx.step(`attempt ${n}`, async () => {
      const { contract, payload, options } = await this.#request(task, n, ctx);
      const idempotencyKey = `${ctx.job.id}/${n}`;
      const { id } = await ctx.enqueue(contract, payload, { ...options, idempotencyKey });
      return { id, at: inside.now() };
    });
    const step = `outcome ${n}`;
    const job = (await inside.isStored(step)) ? null : await inside.jobOf(made.id);
    if (job !== null && !isFinal(job.state)) return { state: "outstanding", startedAt: made.at };
    // A fact: the process decides by the outcome as it was read first.
    return ctx.step(step, () => bounded(endOf(job, n, inside.now()), ctx));
  }

  async #request(task: any, n: number, ctx: AnyContext): Promise<RequestParts> {
    const { type, channel, attempt } = this.#definition;
    const request = channel === undefined ? await attempt?.(task, n, ctx) : channel.of(task);
    const parts = requestOf(request ?? { type });
    if (parts.options.idempotencyKey === undefined) return parts;
    const problem = "the supervisor itself sets the idempotency key of attempts";
    const message = `supervisor "${type}": ${problem}`;
    throw new MillraceError("OPTION_INVALID", message, { details: { option: "idempotencyKey" } });
  }

  async #succeed(
    task: any,
    attempts: number,
    { result, exactly }: Extract<AttemptEnd, { state: "succeeded" }>,
    ctx: AnyContext,
  ): Promise<Envelope> {
    const success: SupervisedSuccess = { attempts, result: decode(exactly ?? null) ?? result };
    await ctx.step(
      "succeeded",
      async () => void (await this.#definition.onSuccess?.(task, success, ctx)),
    );
    if (exactly === undefined) return succeededWith(success);
    return succeededWith({ attempts, result: readExactly(exactly) });
  }

  async #stick(task: any, stuck: SupervisedStuck, ctx: AnyContext): Promise<Envelope> {
    const { attempts, message } = stuck;
    await ctx.step("stuck", async () => {
      ctx.log.error(`task ${ctx.job.id} is stuck after ${attempts} attempts: ${message}`, {
        attempts,
      });
      await this.#definition.onStuck?.(task, stuck, ctx);
    });
    return { status: "stuck", payload: { attempts }, error: message, validationFailure: null };
  }
}

/** How an attempt has ended. `job` is null if retention has removed it unread. */
function endOf(job: JobRecord | null, n: number, now: number): AttemptEnd {
  const failed = (message: string, isLast = false): AttemptEnd => ({
    state: "failed",
    endedAt: job?.finishedAt ?? now,
    message,
    isFinal: isLast,
  });
  if (job === null) return failed(`attempt ${n} was removed before its outcome was read`);
  if (job.state === "cancelled") {
    return failed(`attempt ${n} was cancelled: ${job.cancelReason ?? "no reason given"}`);
  }
  // A job whose retries a supervisor owns is completed, and its run has failed.
  if (job.state === "failed" || job.outcome !== "succeeded") {
    const { fault } = job;
    return failed(fault?.message ?? `attempt ${n} has failed`, fault?.class === "non_retryable");
  }
  const result = readExactly(job.result ?? "null");
  if (!isEnvelope(result)) return { state: "succeeded", result };
  const failure = failureIn(result, `attempt ${n}`);
  if (failure === null) return { state: "succeeded", result: result.payload };
  return failed(failure.message, failure.class === "non_retryable");
}

/** The success stays if its result is too large to be stored once more, within another value. */
function bounded(end: AttemptEnd, ctx: AnyContext): AttemptEnd {
  if (end.state !== "succeeded") return end;
  const text = encodeResult(end.result).text ?? "null";
  const plain = decode(text);
  const isPlain = JSON.stringify(plain) === text;
  const stored = isPlain ? { ...end, result: plain } : { ...NOTHING, exactly: text };
  if (utf8Bytes(JSON.stringify(stored)) <= ANSWER_BYTES_MAX) return stored;
  ctx.log.warn("the result of an attempt is too large for its supervisor, and is left out");
  return NOTHING;
}

function backoffOf({ kind, base, factor = 2, cap }: SupervisorBackoff): BackoffPolicy {
  const baseMs = durationMs(base, "backoff.base");
  // A base above the default cap is meant.
  const capMs = cap === undefined ? Math.max(CAP_MS, baseMs) : durationMs(cap, "backoff.cap");
  return { kind, baseMs, factor, jitter: 0, capMs, jitterAt: "cap" };
}
