/** What `millrace doctor` says about the audit. */
import { verdictOf } from "../../../client/audit/audit.ts";
import { checkAudit, type AuditReader } from "../../../client/audit/verify.ts";
import { partialChecks } from "../doctor-partial.ts";
import type { DoctorCheck } from "../doctor-file-findings.ts";

/** The entries that are checked; --deep checks all. */
const ENTRIES_MAX = 100_000;
const FINDINGS_TOLD = 10;
const FIX =
  "Compare with a backup or an export, and find out who can write to the database; " +
  "docs/audit.md says what each finding means.";

export async function auditChecks(store: AuditReader, isDeep: boolean): Promise<DoctorCheck[]> {
  const checked = await checkAudit(store, {}, isDeep ? {} : { limit: ENTRIES_MAX });
  const { findings, more, sealed, unsealed } = verdictOf(checked);
  const told = findings.slice(0, FINDINGS_TOLD).map(({ message: found }) => {
    return { name: "audit", found, fix: FIX };
  });
  const others = findings.length - told.length + more;
  const rest = { name: "audit", found: `${others} more findings`, fix: FIX };
  const intact = { name: "audit", found: `${sealed} sealed, ${unsealed} unsealed`, fix: null };
  return [
    ...(findings.length === 0 ? [intact] : told),
    ...(others > 0 ? [rest] : []),
    ...(checked.isComplete ? [] : partialChecks([PART])),
  ];
}

const PART = { table: "audit", examined: ENTRIES_MAX, checks: ["audit"] } as const;
