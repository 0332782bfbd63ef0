/** `perform`: runs one handler without a store. */
import { defaults } from "../core/presets.ts";
import { MillraceError } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import { runInJob } from "../jobs/async-context.ts";
import { answerOf, type AnswerOf } from "../runtime/channels/functions.ts";
import { runInside } from "../runtime/channels/run-inside.ts";
import { newJobOf, parsePayload } from "../jobs/new-job.ts";
import type { Clock } from "../core/clock.ts";
import { idSource, idUuid } from "../core/ids.ts";
import { decode, encodePayload, encodeResult } from "../core/payload.ts";
import type { Logger } from "../api/context.ts";
import { definitionOf, type Definition } from "../api/definition.ts";
import type { NamedFunctions } from "../api/channels/functions.ts";
import type { Job } from "../api/job.ts";
import { systemClock, systemDice } from "../lib/system.ts";
import { contextOf, type ContextParts } from "../runtime/run/context.ts";
import { failureOf } from "../runtime/run/failures.ts";
import { RunNotes, type RunStore } from "../runtime/notes/run-notes.ts";
import { carryOutPhases, type PhaseParts } from "../runtime/run/phases.ts";
import { PhaseScope, type PhaseScopeParts } from "../runtime/run/phase-scope.ts";
import { LockQueue } from "../runtime/run/lock-queue.ts";
import type { ClaimedJob } from "../store/types/jobs-and-runs.ts";
import type { Checkpoints } from "../store/types/notes.ts";

export type PerformOptions<Deps> = {
  /** The value of `ctx.attempt`. Default 1. */
  readonly attempt?: number;
  readonly tenant?: string;
  /** The functions that `ctx.callFunction` finds. */
  readonly functions?: NamedFunctions;
  /** The value of `ctx.signal`. */
  readonly signal?: AbortSignal;
} & ({} extends Deps ? { readonly deps?: Deps } : { readonly deps: Deps });

/** The payload and the options. Each is optional for a job that does not need it. */
export type PerformArgs<Input, Deps> = {} extends Deps
  ? undefined extends Input
    ? [payload?: Input, options?: PerformOptions<Deps>]
    : [payload: Input, options?: PerformOptions<Deps>]
  : [payload: Input, options: PerformOptions<Deps>];

/**
 * Runs the schema and the handler of a job, or all its phases in order, and returns the result as
 * it would be stored. Errors of the handler are thrown. Nothing is stored: the jobs of
 * `ctx.enqueue` are checked and discarded.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, typed } from "millrace";
 * import { perform } from "millrace/testing";
 *
 * const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() })
 *   .using<{ greeting: string }>()
 *   .run(({ name }, ctx) => ({ text: `${ctx.deps.greeting} ${name}`, at: new Date(0) }));
 *
 * const result = await perform(greet, { name: "Ada" }, { deps: { greeting: "Hello" } });
 * assert.deepEqual(result, { text: "Hello Ada", at: "1970-01-01T00:00:00.000Z" });
 * ```
 */
export async function perform<Input, R, Deps>(
  job: Job<string, Input, R, Deps>,
  ...[payload, options]: PerformArgs<NoInfer<Input>, NoInfer<Deps>>
): Promise<R> {
  const result: any = await performWith(systemClock, definitionOf(job), payload, options ?? {});
  return result;
}

/** The same with another clock. */
export async function performWith(
  clock: Clock,
  definition: Definition,
  payload: unknown,
  options: Omit<PerformOptions<{}>, "deps"> & { readonly deps?: unknown },
): Promise<unknown> {
  const { schema, type } = definition;
  // As the store would return it, then as the schema transforms it.
  const { text } = encodePayload(payload);
  const asStored = decode(text);
  const given = schema === undefined ? asStored : await parsePayload(type, schema, asStored);
  const newId = idSource(clock, systemDice);
  const running = { ...runningJob(definition, newId(), options), payload: text };
  const run = runOf(definition, { clock, newId, running, options });
  return runInJob({ job: running }, () => runBody(definition, given, run));
}

interface RunSetup {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly running: ClaimedJob;
  readonly options: Omit<PerformOptions<{}>, "deps"> & { readonly deps?: unknown };
}

/** The parts of the context: a run whose notes are dropped. */
function runOf(definition: Definition, around: RunSetup): ContextParts & PhaseScopeParts {
  const { clock, newId, running, options } = around;
  const { body } = definition;
  const lease = { number: 1, secret: "test" };
  const phases = body.kind === "phases" ? body.phases.map(({ name }) => name) : [];
  // Progress is not stored, so the throttle need not wait.
  const hasty: Clock = { ...clock, after: (_, wake) => (wake(), () => {}) };
  const runStore: RunStore = {
    record: async () => "recorded",
    checkpoints: async () => NOTHING,
    acquireLocks: async (_, names) => ({ status: "done", names }),
    lockQueue: new LockQueue(),
  };
  const parts = { functions: options.functions ?? {}, store: NO_STORE };
  const ask: AnswerOf = (...call) => answerOf(parts, ...call);
  const signal = options.signal ?? new AbortController().signal;
  return {
    job: running,
    lease,
    signal,
    runSignal: signal,
    isInterrupted: () => signal.aborted,
    keepLine() {},
    callService: async (_, fn) => fn(signal),
    answerOf: ask,
    inside: {
      ...runInside({
        failureParts: { job: running, definition, preset: defaults, clock },
        isInterrupted: () => signal.aborted,
        judge: (outcome) => outcome,
        answerOf: ask,
        isStored: async () => false,
        serviceAnswered: async () => {},
        jobOf: async () => null,
      }),
      sendBack: (_, error) => {
        throw error;
      },
    },
    logger: SILENT,
    deps: options.deps ?? {},
    clock,
    runNotes: new RunNotes({
      job: running,
      lease,
      phases,
      onRetry: "resume",
      runStore,
      clock: hasty,
      signal,
      onLost() {},
    }),
    faultOf: (error) =>
      failureOf(error, { job: running, definition, preset: defaults, clock }).fault,
    newChild: async (_, contract, ...[payload, enqueueOptions = {}]) =>
      newJobOf(
        { contract, payload, options: enqueueOptions },
        { newId, tenant: running.tenant, running, preset: defaults, payloads: null },
      ),
  };
}

const NO_STORE = {
  runFunction: (name: string): Promise<never> => {
    const message = `there is no function ${shown(name)}`;
    const hint = "Give perform the function: { functions: { … } }.";
    return Promise.reject(new MillraceError("FUNCTION_UNKNOWN", message, { hint }));
  },
};

async function runBody(
  { body, type }: Definition,
  payload: unknown,
  run: ContextParts & PhaseScopeParts,
): Promise<unknown> {
  switch (body.kind) {
    case "none":
      throw new TypeError(`job "${type}" has no handler; add .run or .phase`);
    case "handler": {
      const phaseScope = new PhaseScope(run, null);
      const context = contextOf(run, () => phaseScope, {});
      return stored(await body.handler(payload, context));
    }
    case "phases": {
      const parts: PhaseParts = {
        runNotes: run.runNotes,
        checkpoint() {},
        enter: (phase) => new PhaseScope(run, phase),
        call: (handler, phaseScope, results) =>
          handler(
            payload,
            contextOf(run, () => phaseScope, results),
          ),
      };
      return decode((await carryOutPhases(parts, body.phases)).result);
    }
  }
}

/** A result as the store would return it. */
function stored(result: unknown): unknown {
  return decode(encodeResult(result).text);
}

function runningJob(
  { type, settings }: Definition,
  id: string,
  { attempt = 1, tenant = "default" }: { readonly attempt?: number; readonly tenant?: string },
): ClaimedJob {
  return {
    key: 1,
    id,
    n: attempt,
    tries: attempt - 1,
    crashes: 0,
    maxAttempts: settings.maxAttempts ?? attempt,
    onOrphan: "retry",
    retryOwner: "queue",
    isSuccessor: false,
    type,
    tenant,
    lane: settings.lane ?? "general",
    priority: 100,
    payload: null,
    payloadVersion: settings.payloadVersion ?? null,
    correlationId: idUuid(id),
    parentId: null,
    timeoutMs: null,
    concurrencyKey: null,
    tags: {},
    createdAt: 0,
    runAt: 0,
  };
}

const NOTHING: Checkpoints = { phases: [], units: [], failedUnits: {}, tries: null };
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
