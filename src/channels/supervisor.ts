/** `defineSupervisor`: a job that makes attempts until one succeeds, or none is left. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Envelope } from "../core/channels/envelope.ts";
import type { Duration } from "../core/duration.ts";
import type { Context } from "../api/context.ts";
import type { JobContract, JobRequest } from "../api/contract.ts";
import { defineJob } from "../api/define.ts";
import { definitionOf, isContract } from "../api/definition.ts";
import type { Job } from "../api/job.ts";
import type { Refused } from "../api/json.ts";
import {
  aFunction,
  aName,
  anObject,
  aWholeNumber,
  insist,
  isDuration,
  isObject,
  must,
  oneOf,
  refusal,
} from "../api/rules.ts";
import { SETTING_RULES, type JobSettings } from "../api/settings.ts";
import { SupervisedProcess } from "./supervised-process.ts";

type AnyContext = Context<{}, {}>;

/** The wait between a failed attempt and the next one. */
export interface SupervisorBackoff {
  readonly kind: "fixed" | "linear" | "exponential";
  readonly base: Duration;
  readonly factor?: number;
  readonly cap?: Duration;
}

/** How a supervised process has ended well. */
export interface SupervisedSuccess {
  readonly attempts: number;
  /** The result of the attempt; of a channel, what the provider has answered. */
  readonly result: any;
}

/** How a supervised process has ended badly. */
export interface SupervisedStuck {
  readonly attempts: number;
  /** The message of the last failure. */
  readonly message: string;
}

export interface SupervisorSettings<Name extends string, Task> extends Pick<
  JobSettings,
  "lane" | "category" | "priority"
> {
  readonly type: Name;
  /** The payload of the supervisor: what the process is about. */
  readonly task?: StandardSchemaV1<any, Task>;
  /** The maximum number of attempts. Default 5. */
  readonly maxAttempts?: number;
  /** Default: exponential from 10 s, up to an hour. */
  readonly backoff?: SupervisorBackoff;
  /** Called when an attempt has succeeded; again after a crash, so it must be idempotent. */
  readonly onSuccess?: (task: Task, success: SupervisedSuccess, ctx: AnyContext) => unknown;
  /** Called when no attempt is left; again after a crash, so it must be idempotent. */
  readonly onStuck?: (task: Task, stuck: SupervisedStuck, ctx: AnyContext) => unknown;
}

/** Attempts of one job type, whose payload is the task. */
interface ByChannel<Task, Input> {
  readonly channel: JobContract<string, Input, unknown> & Taking<Task, Input>;
  readonly attempt?: undefined;
}

/** Attempts of any job types. */
interface ByAttempt<Task> {
  /** The job of the n-th attempt, counted from 1. */
  readonly attempt: (
    task: Task,
    n: number,
    ctx: AnyContext,
  ) => JobRequest<unknown> | Promise<JobRequest<unknown>>;
  readonly channel?: undefined;
}

/** The settings of a supervisor, and how its attempts are made: by `channel` or by `attempt`. */
export type SupervisorDefinition<Name extends string, Task, Input = any> = SupervisorSettings<
  Name,
  Task
> &
  (ByChannel<Task, Input> | ByAttempt<Task>);

/** A number is assignable to a type of optional fields, but is no payload of that kind. */
type Taking<Task, Input> = [Task] extends [Input]
  ? [Input, Task] extends [object, object] | [Exclude<Input, object>, unknown]
    ? unknown
    : Refused<"the channel does not take the task as its payload">
  : Refused<"the channel does not take the task as its payload">;

/** A supervisor, for `jobs` of `mill.work` and for `mill.enqueue`. */
export type Supervisor<Name extends string, Task> = Job<Name, Task, Envelope>;

/** Failures of the supervisor itself, such as an error of `attempt`, until it is a dead letter. */
const OWN_FAILURES_MAX = 25;

const aPositive = must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "10s"');
const DEFINITION = anObject(
  {
    required: { type: aName },
    optional: {
      task: must(isSchema, "a Standard Schema or typed<…>()"),
      lane: SETTING_RULES.lane,
      category: SETTING_RULES.category,
      priority: SETTING_RULES.priority,
      maxAttempts: aWholeNumber({ min: 1, max: 1_000 }),
      backoff: anObject(
        {
          required: { kind: oneOf("fixed", "linear", "exponential"), base: aPositive },
          optional: {
            factor: must(
              (value) => typeof value === "number" && value >= 1,
              "a number of at least 1",
            ),
            cap: aPositive,
          },
        },
        'an object such as { kind: "exponential", base: "10s" }',
      ),
      channel: must(isContract, "a job made with defineJob or defineChannel"),
      attempt: aFunction,
      onSuccess: aFunction,
      onStuck: aFunction,
    },
  },
  'an object such as { type: "send welcome", channel: email }',
);

/**
 * Declares a supervisor: a job that makes one attempt after the other, each a job of its own, and
 * reads their outcomes, until one has succeeded or `maxAttempts` have failed. The supervisor is one
 * job for the whole process, so exactly one is alive: it snoozes in between, which is one
 * transaction. Each attempt is stored together with the fact that it was made. A failure that no
 * retry heals ends the process at once.
 *
 * The job completes in any case. Its result has the status `succeeded`, or `stuck` with the message
 * of the last failure. To begin a process once, enqueue the supervisor with an idempotency key.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TransientError, typed } from "millrace";
 * import { defineChannel, defineSupervisor } from "millrace/channels";
 * import { createTestMill } from "millrace/testing";
 *
 * let calls = 0;
 * const push = defineChannel({
 *   type: "push",
 *   send: async () => {
 *     calls += 1;
 *     if (calls < 3) throw new TransientError("the provider hung up");
 *     return { id: "p1" };
 *   },
 * });
 * const welcome = defineSupervisor({
 *   type: "send welcome",
 *   task: typed<{ user: number }>(),
 *   maxAttempts: 5,
 *   backoff: { kind: "exponential", base: "30s" },
 *   attempt: ({ user }, n) => push.of({ user, attempt: n }),
 * });
 *
 * await using test = await createTestMill();
 * test.mill.work({ jobs: [push, welcome] });
 * const job = await test.mill.enqueue(welcome, { user: 7 }, { idempotencyKey: "welcome 7" });
 * await test.advance("5m");
 * const { status, payload } = await test.mill.result(job);
 * assert.equal(status, "succeeded");
 * assert.deepEqual(payload, { attempts: 3, result: { id: "p1" } });
 * ```
 */
export function defineSupervisor<const Name extends string, Task = undefined, Input = any>(
  definition: SupervisorDefinition<Name, Task, Input>,
): Supervisor<Name, Task> {
  const subject = subjectOf(definition);
  insist(subject, DEFINITION, definition, "");
  const { channel, attempt } = definition;
  if ((channel === undefined) === (attempt === undefined)) {
    const problem = "needs one of channel and attempt";
    throw refusal(subject, { place: "", problem });
  }
  const isTaken = channel === undefined || definitionOf(channel).schema === undefined;
  if (definition.task === undefined && !isTaken) {
    const problem = `needs a task, because the payload of "${channel.type}" is the task`;
    throw refusal(subject, { place: "", problem });
  }
  const { type, task, lane, category, priority } = definition;
  const process = new SupervisedProcess(definition);
  return defineJob({
    type,
    ...(task && { payload: task }),
    ...(lane === undefined ? {} : { lane }),
    ...(category === undefined ? {} : { category }),
    ...(priority === undefined ? {} : { priority }),
    maxAttempts: OWN_FAILURES_MAX,
    onRetry: "resume",
  }).run((given: any, ctx) => process.carryOn(given, ctx));
}

function subjectOf(definition: unknown): string {
  const type = isObject(definition) ? definition["type"] : undefined;
  return typeof type === "string" ? `supervisor "${type}"` : "defineSupervisor";
}

function isSchema(value: unknown): boolean {
  return (isObject(value) || typeof value === "function") && "~standard" in Object(value);
}
