/** The categories and payload rules of practice management, in code. */
import type { PayloadRule } from "./rule.ts";

/** The categories of jobs in practice management. */
export const JOB_CATEGORIES = [
  "ingestion",
  "sync",
  "recurrence",
  "orchestration",
  "documents",
  "notifications",
  "export",
  "maintenance",
] as const;

export type JobCategory = (typeof JOB_CATEGORIES)[number];

/** Rules that code brings along: those of a preset. */
export interface PresetRules {
  /** Holds for all jobs. */
  readonly installation?: PayloadRule;
  readonly categories?: Readonly<Record<string, PayloadRule>>;
  readonly types?: Readonly<Record<string, PayloadRule>>;
}

/** The rules of the preset `practice`. */
export const PRACTICE_RULES: PresetRules = {
  installation: {
    required: { tenant_id: "integer", correlation_id: "uuid", idempotency_key: "string" },
    softBytes: 10_240,
    sensitive: {
      passwords: "reject",
      tokens: "reject",
      keys: "reject",
      cards: "reject",
      mail_bodies: "reject",
      document_content: "reject",
    },
    strict: true,
  },
  categories: {
    ingestion: { required: { connection_id: "any" } },
    sync: { required: { connection_id: "any" } },
    documents: { required: { document_id: "any" } },
  },
};
