/**
 * The fifteen job types. What they do is in the services beside this file, which know nothing of
 * jobs. Each request has its effect once, however often its job runs.
 */
import {
  createPayload,
  defineJob,
  typed,
  type EnqueueOptions,
  type Job,
  type JobBuilder,
  type JobContract,
  type Json,
} from "millrace";
import * as calendar from "./calendar.ts";
import { categoryOf, PAYLOAD_VERSION, PRIORITY } from "./categories.ts";
import { classifyError } from "./classify-error.ts";
import * as documents from "./documents.ts";
import * as mail from "./mail.ts";
import type { FirmPayload } from "./payload-validator.ts";
import { once, type Practice } from "./practice.ts";
import * as upkeep from "./upkeep.ts";

const parse = serviceJob("email_ingestion_parse", mail.parseMail);
const workCreate = serviceJob("recurrence_work_create", calendar.createWork);

/** A fetched message is parsed by a job of its own, which is stored together with the result. */
const fetch = firmJob<"email_ingestion_fetch", mail.MessageRef>("email_ingestion_fetch").run(
  async (payload, ctx) => {
    const result = once(ctx.deps, payload, () => mail.fetchMail(ctx.deps, payload));
    const { connection_id, external_message_id } = payload;
    const refs = { connection_id, external_message_id };
    await ctx.enqueue(parse, ...childOf(payload, "parse", refs));
    return result;
  },
);

const periodGenerate = firmJob<"recurrence_period_generate", calendar.RecurrenceRef>(
  "recurrence_period_generate",
).run(async (payload, ctx) => {
  const periods = calendar.generatePeriods(ctx.deps, payload);
  for (const period of periods) {
    const refs = { recurrence_id: payload.recurrence_id, period };
    await ctx.enqueue(workCreate, ...childOf(payload, period, refs));
  }
  return { periods };
});

export const JOBS = [
  fetch,
  parse,
  serviceJob("calendar_sync_pull", calendar.pullCalendar),
  serviceJob("calendar_sync_push", calendar.pushAppointment),
  periodGenerate,
  workCreate,
  serviceJob("orchestration_step_execute", documents.executeStep),
  serviceJob("document_scan", documents.scanDocument),
  serviceJob("document_classify", documents.classifyDocument),
  serviceJob("notification_email_send", mail.sendEmail),
  serviceJob("notification_inapp_create", mail.showInApp),
  serviceJob("firm_export", upkeep.exportFirm),
  serviceJob("firm_purge", upkeep.purgeFirm),
  serviceJob("session_expire", upkeep.expireSessions),
  serviceJob("data_archival", upkeep.archiveMatters),
] as const;

/** The job of a type, for callers that have its name as a text; null: there is none. */
export function jobOfType(type: string): JobContract<string, FirmPayload, unknown> | null {
  const contracts: readonly JobContract<string, any, unknown>[] = JOBS;
  return contracts.find((job) => job.type === type) ?? null;
}

/** A job that is one call of a service. */
function serviceJob<Name extends string, Payload extends FirmPayload, R extends Json>(
  type: Name,
  service: (practice: Practice, payload: Payload) => R,
): Job<Name, Payload, R, Practice> {
  const job: any = firmJob<Name, Payload>(type).run((payload, ctx) =>
    once(ctx.deps, payload, () => service(ctx.deps, payload)),
  );
  return job;
}

/** The settings that all types share. */
function firmJob<Name extends string, Payload extends FirmPayload>(
  type: Name,
): JobBuilder<Name, Payload, Payload, Practice> {
  const category = categoryOf(type);
  if (category === null) throw new RangeError(`no category has the type ${type}`);
  return defineJob({
    type,
    category,
    payload: typed<any>(),
    priority: PRIORITY.normal,
    payloadVersion: PAYLOAD_VERSION,
    classify: classifyError,
  }).using<Practice>();
}

/** The payload and the options of a job that continues the work of another one. */
function childOf<Refs extends Readonly<Record<string, Json>>>(
  parent: FirmPayload,
  part: string,
  refs: Refs,
): [FirmPayload & Refs, EnqueueOptions] {
  const idempotencyKey = `${parent.idempotency_key}_${part}`;
  const payload: any = createPayload({
    tenantId: parent.tenant_id,
    correlationId: parent.correlation_id,
    idempotencyKey,
    payloadVersion: PAYLOAD_VERSION,
    ...refs,
  });
  return [payload, { idempotencyKey }];
}
