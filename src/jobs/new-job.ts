/** Turns a request into the job that the store inserts: checked, encoded, with all defaults. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { durationMs, instantMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { PRIORITIES, type JobId } from "../core/job.ts";
import { encodePayload } from "../core/payload.ts";
import {
  currentPayload,
  FIRST_VERSION,
  type CurrentPayload,
} from "../core/payload-rules/payload-version.ts";
import type { Preset } from "../core/presets.ts";
import type { EnqueueOptions } from "../api/enqueue.ts";
import { definitionOf, type Definition, type RequestParts } from "../api/definition.ts";
import type { JobSettings } from "../api/settings.ts";
import type { NewJob } from "../store/types/jobs-and-runs.ts";
import type { CurrentJob } from "./async-context.ts";
import { afterOf, checkOptions } from "./enqueue-options.ts";
import type { PayloadGate } from "./payloads/payload-gate.ts";

/** Where a new job gets its id, and the values that neither request nor definition gives. */
export interface JobDefaults {
  readonly newId: () => JobId;
  readonly tenant: string;
  readonly preset: Preset;
  /** Checks the payloads of new jobs; null: no payload is checked. */
  readonly payloads: PayloadGate | null;
}

/** The defaults, and the job whose handler makes the request. */
export interface RequestContext extends JobDefaults {
  readonly running: CurrentJob | undefined;
  /** The job belongs to the slots of a schedule. */
  readonly isScheduled?: true;
}

/** Synchronous if the schema is: an await per job would slow down large batches. */
export function newJobOf(request: RequestParts, context: RequestContext): NewJob | Promise<NewJob> {
  const definition = definitionOf(request.contract);
  checkOptions(definition.type, request.options);
  const checked = checkPayload(definition, request);
  const assembled = (): NewJob => assemble(definition, request, context);
  return checked instanceof Promise ? checked.then(assembled) : assembled();
}

/** Runs the schema only as a check: the payload is stored as the caller gave it. */
function checkPayload(
  { type, schema, settings }: Definition,
  { payload, options: { payloadVersion } }: RequestParts,
): unknown {
  if (schema !== undefined) {
    const read =
      payloadVersion === undefined
        ? payload
        : ofVersion(type, settings, {
            version: payloadVersion,
            payload,
          });
    return parsePayload(type, schema, read);
  }
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

/** A payload of an older version as the schema of today knows it. */
function ofVersion(
  type: string,
  settings: JobSettings,
  stored: { readonly version: string; readonly payload: unknown },
): unknown {
  // Without a version of its own, the definition says nothing about versions.
  if (settings.payloadVersion === undefined) return stored.payload;
  const read = readPayload(settings, stored);
  if (read.status === "current") return read.payload;
  const problem = versionProblem(type, settings, stored.version, read.status);
  throw new MillraceError(
    read.status === "newer" ? "PAYLOAD_VERSION_NEWER" : "PAYLOAD_INVALID",
    problem,
    { details: { option: "payloadVersion" } },
  );
}

/** The payload in the version that the code of a type knows. */
export function readPayload(
  { payloadVersion, upcast }: JobSettings,
  stored: { readonly version: string | null; readonly payload: unknown },
): CurrentPayload {
  return currentPayload({ payloadVersion, upcast }, stored);
}

/** Why this code cannot read a payload. */
export function versionProblem(
  type: string,
  { payloadVersion = FIRST_VERSION }: JobSettings,
  version: string | null,
  status: "newer" | "unreadable",
): string {
  const given = `the payload of job "${type}" has version ${version ?? FIRST_VERSION}`;
  if (status === "newer") return `${given}, and this code knows version ${payloadVersion}`;
  const missing = `upcast: { "${version ?? FIRST_VERSION}": (payload) => … }`;
  return `${given}, and no upcast leads to version ${payloadVersion}; add ${missing} to defineJob`;
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
  { newId, tenant, running, preset, payloads, isScheduled }: RequestContext,
): NewJob {
  const byType = jobDefaultsOf(settings, preset);
  const { text, bytes } = encodePayload(payload);
  const job: NewJob = {
    id: newId(),
    type,
    tenant: options.tenant ?? running?.tenant ?? tenant,
    lane: byType.lane,
    category: settings.category ?? null,
    priority: options.priority === undefined ? byType.priority : priorityOf(options.priority),
    due: dueOf(options),
    maxAttempts: options.maxAttempts ?? byType.maxAttempts,
    timeoutMs: byType.timeoutMs,
    payload: text,
    payloadVersion: options.payloadVersion ?? settings.payloadVersion ?? null,
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
    onOrphan: byType.onOrphan,
    retryOwner: byType.retryOwner,
  };
  return payloads === null ? job : payloads.accept(job, bytes, isScheduled);
}

/** What the jobs of a type get unless their request says otherwise. */
export function jobDefaultsOf(
  settings: JobSettings,
  preset: Preset,
): Pick<NewJob, "lane" | "priority" | "maxAttempts" | "timeoutMs" | "onOrphan" | "retryOwner"> {
  const lane = settings.lane ?? "general";
  return {
    lane,
    priority: priorityOf(settings.priority ?? "normal"),
    maxAttempts: settings.maxAttempts ?? preset.retry.maxAttempts,
    timeoutMs: timeoutOf(settings, lane, preset),
    onOrphan: settings.onOrphan ?? preset.onOrphan,
    retryOwner: settings.retryOwner ?? "queue",
  };
}

export function priorityOf(priority: NonNullable<JobSettings["priority"]>): number {
  return typeof priority === "number" ? priority : PRIORITIES[priority];
}

export function dueOf({ runAt, delay }: Pick<EnqueueOptions, "runAt" | "delay">): NewJob["due"] {
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
