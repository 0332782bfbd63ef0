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

export async function audits(
  { read }: Session,
  query: AuditQuery,
  page: AuditPage,
): Promise<readonly AuditRecord[]> {
  const params = listParams(query, page);
  const rows =
    page.oldestFirst === true
      ? await read.all("list_audits_forwards", params)
      : await read.all("list_audits", params);
  return rows.map(auditRecord);
}

export async function auditSeals(
  { read }: Session,
  scope: ChainScope,
  page: { readonly after?: SealPlace; readonly limit: number },
): Promise<readonly SealedRow[]> {
  return (await read.all("list_seals", sealPageParams(scope, page))).map(sealedRow);
}

export async function chainStart(
  { read }: Session,
  tenant: string | null,
): Promise<ChainHead | null> {
  return (await read.get("chain_start", { tenant: tenant ?? "" })) ?? null;
}

/** By time: transactions commit in another order than that of their ids. */
export async function newestSealed(
  { read }: Pick<Session, "read">,
  scope: ChainScope,
): Promise<NewestSealed> {
  const row = await read.get("newest_sealed", { tenant: scopeParam(scope) });
  return { id: null, at: row?.at ?? null };
}

export async function unsealedAudits(
  { read }: Session,
  scope: ChainScope,
  page: { readonly after?: number; readonly limit: number },
): Promise<UnsealedPage> {
  const limit = bounded(page.limit, AUDIT_PAGE_MAX);
  const params = { tenant: scopeParam(scope), after: page.after ?? FIRST_ID, limit };
  return unsealedPage(await read.all("sealed_or_not", params), limit);
}
