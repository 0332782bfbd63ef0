/** Writes audit entries in the transaction of the act. */
import { auditLine, type AuditDraft, type AuditLine } from "../../shared/audit/drafts.ts";
import type { StoreTransaction } from "../database/session.ts";

/**
 * `isRepeat`: the answer of an earlier try was lost. An entry that this try has written is not
 * written again.
 */
export async function writeAudits(
  transaction: StoreTransaction,
  drafts: readonly AuditDraft[],
  isRepeat = false,
): Promise<void> {
  const lines: AuditLine[] = [];
  for (const line of drafts.map(auditLine)) {
    if (!isRepeat || !(await isWritten(transaction, line))) lines.push(line);
  }
  if (lines.length === 0) return;
  await transaction.run("insert_audits", { entries: JSON.stringify(lines) });
}

async function isWritten(transaction: StoreTransaction, line: AuditLine): Promise<boolean> {
  const { subject, name, actor, after } = line;
  const found = await transaction.get("find_same_audit", { subject, name, actor, after });
  return found !== undefined;
}
