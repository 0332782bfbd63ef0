/** audits, auditSeals, newestSealed and unsealedAudits. */
import type { ChainHead } from "../../../core/audit/chain.ts";
import type { NewestSealed, SealedRow } from "../../../core/audit/verify.ts";
import {
  AUDIT_PAGE_MAX,
  auditRecord,
  FIRST_ID,
  listParams,
  scopeParam,
  sealedRow,
  sealPageParams,
  unsealedPage,
} from "../../shared/audit/rows.ts";
import { bounded } from "../../shared/limits.ts";
import type {
  AuditPage,
  AuditQuery,
  AuditRecord,
  ChainScope,
  SealPlace,
  UnsealedPage,
} from "../../types/audit.ts";
import type { Session } from "../database/session.ts";

export function audits({ sql }: Session, query: AuditQuery, page: AuditPage): AuditRecord[] {
  const params = listParams(query, page);
  const rows =
    page.oldestFirst === true
      ? sql.all("list_audits_forwards", params)
      : sql.all("list_audits", params);
  return rows.map(auditRecord);
}

export function auditSeals(
  { sql }: Session,
  scope: ChainScope,
  page: { readonly after?: SealPlace; readonly limit: number },
): SealedRow[] {
  return sql.all("list_seals", sealPageParams(scope, page)).map(sealedRow);
}

export function chainStart({ sql }: Session, tenant: string | null): ChainHead | null {
  return sql.get("chain_start", { tenant: tenant ?? "" }) ?? null;
}

/** By id: ids have the order of commits. */
export function newestSealed({ sql }: Session, scope: ChainScope): NewestSealed {
  const row = sql.get("newest_sealed", { tenant: scopeParam(scope) });
  return { id: row?.id ?? null, at: null };
}

export function unsealedAudits(
  { sql }: Session,
  scope: ChainScope,
  page: { readonly after?: number; readonly limit: number },
): UnsealedPage {
  const limit = bounded(page.limit, AUDIT_PAGE_MAX);
  const params = { tenant: scopeParam(scope), after: page.after ?? FIRST_ID, limit };
  return unsealedPage(sql.all("sealed_or_not", params), limit);
}
