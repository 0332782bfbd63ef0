/** The eight categories, their job types, and the objects to which each payload refers. */
import { practice, type FieldKind, type JobCategory, type Preset } from "millrace";

type Types = Readonly<Record<string, Readonly<Record<string, FieldKind>>>>;

export const JOB_TYPES = {
  ingestion: {
    email_ingestion_fetch: { connection_id: "integer", external_message_id: "string" },
    email_ingestion_parse: { connection_id: "integer", external_message_id: "string" },
  },
  sync: {
    calendar_sync_pull: { connection_id: "integer" },
    calendar_sync_push: { connection_id: "integer", appointment_id: "string" },
  },
  recurrence: {
    recurrence_period_generate: { recurrence_id: "integer" },
    recurrence_work_create: { recurrence_id: "integer", period: "string" },
  },
  orchestration: {
    orchestration_step_execute: { execution_id: "integer", step: "string" },
  },
  documents: {
    document_scan: { document_id: "integer" },
    document_classify: { document_id: "integer" },
  },
  notifications: {
    notification_email_send: { notification_id: "integer" },
    notification_inapp_create: { notification_id: "integer" },
  },
  export: {
    firm_export: { export_id: "integer" },
    firm_purge: { purge_id: "integer" },
  },
  maintenance: {
    session_expire: { before: "string" },
    data_archival: { before: "string" },
  },
} as const satisfies Record<JobCategory, Types>;

/** The lower number runs first. */
export const PRIORITY = { urgent: 0, high: 1, normal: 2, low: 3 } as const;

export const PAYLOAD_VERSION = "1.0";

/** A payload above 10 KB earns a warning; above this size it is refused. */
const HARD_BYTES = 102_400;

/** The preset `practice`, with a limit of the size and with the references of each type. */
export const PRESET: Preset = {
  ...practice,
  payloadRules: {
    ...practice.payloadRules,
    installation: { ...practice.payloadRules.installation, hardBytes: HARD_BYTES },
    types: Object.fromEntries(
      Object.values<Types>(JOB_TYPES).flatMap((types) =>
        Object.entries(types).map(([type, required]) => [type, { required }]),
      ),
    ),
  },
};

/** The category of a job type; null: the firm has no such type. */
export function categoryOf(jobType: string): JobCategory | null {
  for (const category of keysOf(JOB_TYPES)) {
    if (Object.hasOwn(JOB_TYPES[category], jobType)) return category;
  }
  return null;
}

function keysOf<T extends object>(value: T): (keyof T)[] {
  const keys: any = Object.keys(value);
  return keys;
}
