/** The tables of the audit and of bulk operations in a copy. */
import type { CopiedTable, TableName } from "./tables.ts";

export const GOVERNANCE_TABLES: readonly CopiedTable[] = [
  // As text: the hash of a seal covers every character.
  changing("audit", ["id"], {
    id: "number",
    at: "moment",
    tenant: "text",
    name: "text",
    actor: "text",
    reason: "text",
    subject_kind: "text",
    subject: "text",
    before: "text",
    after: "text",
  }),
  changing("audit_seal", ["tenant", "day", "position"], {
    tenant: "text",
    day: "number",
    position: "number",
    audit_id: "number",
    previous: "text",
    hash: "text",
    sealed_at: "moment",
  }),
  changing("audit_start", ["tenant"], {
    tenant: "text",
    day: "number",
    position: "number",
    hash: "text",
  }),
  changing("operation", ["id"], {
    id: "id",
    status: "number",
    tenant: "text",
    plan: "json",
    actor: "text",
    reason: "text",
    rate: "real",
    chunk: "number",
    expected: "number",
    expected_at_least: "number",
    cursor: "text",
    done: "number",
    failed: "number",
    skipped: "json",
    items: "number",
    created_at: "moment",
    started_at: "moment",
    finished_at: "moment",
    next_at: "moment",
    runner: "text",
    lease_until: "moment",
    stopped_by: "text",
    error: "json",
  }),
  changing("operation_item", ["operation", "n"], {
    operation: "id",
    n: "number",
    job_id: "id",
    outcome: "number",
    code: "text",
    successor: "id",
  }),
];

/** A table whose rows change, so that it is copied when no worker runs. */
export function changing(
  name: TableName,
  key: readonly string[],
  columns: CopiedTable["columns"],
): CopiedTable {
  return { name, key, columns, isWrittenOnce: false };
}
