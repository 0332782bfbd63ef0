/** Turns a request into the job that the store inserts: checked, encoded, with all defaults. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { durationMs, instantMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { PRIORITIES, type JobId } from "../core/job.ts";
import { encodePayload } from "../core/payload.ts";
import type { Preset } from "../core/presets.ts";
import type { EnqueueOptions } from "../api/enqueue.ts";
import { definitionOf, type Definition, type RequestParts } from "../api/definition.ts";
import type { JobSettings } from "../api/settings.ts";
import type { NewJob } from "../store/types/jobs-and-runs.ts";
import type { CurrentJob } from "./async-context.ts";
import { afterOf, checkOptions } from "./enqueue-options.ts";

/** Where a new job gets its id, and the values that neither request nor definition gives. */
export interface JobDefaults {
  readonly newId: () => JobId;
  readonly tenant: string;
  readonly preset: Preset;
}

/** The defaults, and the job whose handler makes the request. */
export interface RequestContext extends JobDefaults {
  readonly running: CurrentJob | undefined;
}

/** Synchronous if the schema is: an await per job would slow down large batches. */
export function newJobOf(request: RequestParts, context: RequestContext): NewJob | Promise<NewJob> {
  const definition = definitionOf(request.contract);
  checkOptions(definition.type, request.options);
  const checked = checkPayload(definition, request.payload);
  const assembled = (): NewJob => assemble(definition, request, context);
  return checked instanceof Promise ? checked.then(assembled) : assembled();
}

/** Runs the schema only as a check: the payload is stored as the caller gave it. */
function checkPayload({ type, schema }: Definition, payload: unknown): unknown {
  if (schema !== undefined) return parsePayload(type, schema, payload);
  if (payload === undefined) return undefined;
  throw new MillraceError("PAYLOAD_INVALID", `job "${type}" takes no payload`, {
    hint: "Declare the payload in defineJob, with a schema or payload: typed<…>(), or send none.",
  });
}

/** The output of the schema, which the handler gets. Synchronous if the schema is. */
export function parsePayload(type: string, schema: StandardSchemaV1, payload: unknown): unknown {
  const verdict = schema["~standard"].validate(payload);
  return "then" in verdict
    ? Promise.resolve(verdict).then((late) => accepted(type, late))
    : accepted(type, verdict);
}

function accepted(type: string, verdict: StandardSchemaV1.Result<unknown>): unknown {
  if (verdict.issues === undefined) return verdict.value;
  const issues = verdict.issues.slice(0, 20).map(({ message, path }) => ({
    path: ["payload", ...(path ?? []).map(stepOf)].join("."),
    message,
  }));
  const problems = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new MillraceError("PAYLOAD_INVALID", `job "${type}": ${problems}`, { details: { issues } });
}

function stepOf(step: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof step === "object" ? step.key : step);
}

const NO_TAGS: NewJob["tags"] = Object.freeze({});

function assemble(
  { type, settings }: Definition,
  { payload, options }: RequestParts,
  { newId, tenant, running, preset }: RequestContext,
): NewJob {
  const byType = jobDefaultsOf(settings, preset);
  return {
    id: newId(),
    type,
    tenant: options.tenant ?? running?.tenant ?? tenant,
    lane: byType.lane,
    category: settings.category ?? null,
    priority: options.priority === undefined ? byType.priority : priorityOf(options.priority),
    due: dueOf(options),
    maxAttempts: options.maxAttempts ?? byType.maxAttempts,
    timeoutMs: byType.timeoutMs,
    payload: encodePayload(payload).text,
    payloadVersion: null,
    correlationId: options.correlationId ?? running?.correlationId ?? null,
    parentId: running?.id ?? null,
    retryOf: null,
    concurrencyKey: options.concurrencyKey ?? null,
    after: afterOf(options),
    onFailed: options.onFailed ?? "cancel",
    idempotency: keyed(options.idempotencyKey, preset.onIdempotencyConflict),
    dedup: keyed(options.dedupKey, "skip"),
    webhookUrl: null,
    tags: options.tags ?? NO_TAGS,
    createdBy: options.createdBy ?? null,
    onOrphan: settings.onOrphan ?? preset.onOrphan,
    retryOwner: settings.retryOwner ?? "queue",
  };
}

/** What the jobs of a type get unless their request says otherwise. */
export function jobDefaultsOf(
  settings: JobSettings,
  preset: Preset,
): Pick<NewJob, "lane" | "priority" | "maxAttempts" | "timeoutMs"> {
  const lane = settings.lane ?? "general";
  return {
    lane,
    priority: priorityOf(settings.priority ?? "normal"),
    maxAttempts: settings.maxAttempts ?? preset.retry.maxAttempts,
    timeoutMs: timeoutOf(settings, lane, preset),
  };
}

function priorityOf(priority: NonNullable<JobSettings["priority"]>): number {
  return typeof priority === "number" ? priority : PRIORITIES[priority];
}

function dueOf({ runAt, delay }: EnqueueOptions): NewJob["due"] {
  if (runAt !== undefined) return { at: instantMs(runAt, "runAt") };
  return { delayMs: delay === undefined ? 0 : durationMs(delay, "delay") };
}

function timeoutOf({ timeout }: JobSettings, lane: string, preset: Preset): number | null {
  if (timeout === false) return null;
  if (timeout !== undefined) return durationMs(timeout, "timeout");
  return lane === "fast" ? preset.timeoutMs.fast : preset.timeoutMs.general;
}

function keyed<Policy extends string>(
  option: string | { key: string; onConflict: Policy } | undefined,
  onConflict: Policy,
): { key: string; onConflict: Policy } | null {
  if (option === undefined) return null;
  return typeof option === "string" ? { key: option, onConflict } : option;
}
