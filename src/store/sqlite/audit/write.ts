/** Writes audit entries in the transaction of the act. */
import { auditLine, type AuditDraft } from "../../shared/audit/drafts.ts";
import type { Session } from "../database/session.ts";

export function writeAudits(
  { sql, clock, names }: Pick<Session, "sql" | "clock" | "names">,
  drafts: readonly AuditDraft[],
): void {
  if (drafts.length === 0) return;
  const lines = drafts.map((draft) => {
    const { tenant_id: id, ...line } = auditLine(draft);
    return id === null ? line : { ...line, tenant: names.text(id) };
  });
  sql.run("insert_audits", { entries: JSON.stringify(lines), now: clock.now() });
}
