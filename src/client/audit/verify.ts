/** Reads the chains of the audit page by page, and checks them. */
import { ChainCheck, isLate, type AuditFinding, type TenantHead } from "../../core/audit/verify.ts";
import { sha256 } from "../../lib/sha256.ts";
import type { JobStore } from "../../store/store.ts";
import type { ChainScope, SealPlace, UnsealedPage } from "../../store/types/audit.ts";

const PAGE = 1_000;
/** The findings that are told; more are counted. */
const FINDINGS_MAX = 100;

/** What a check of the audit needs of a store. */
export type AuditReader = Pick<
  JobStore,
  "auditSeals" | "chainStart" | "newestSealed" | "unsealedAudits"
>;

export interface CheckedAudit {
  readonly findings: readonly AuditFinding[];
  /** Findings that are not told. */
  readonly more: number;
  /** Entries with a seal. */
  readonly sealed: number;
  /** Entries that wait for a seal. */
  readonly unsealed: number;
  readonly heads: readonly TenantHead[];
  /** False: `limit` was reached, and the rest was not read. */
  readonly isComplete: boolean;
}

/** `limit` is how many entries are read. `heads` are those of an earlier check. */
export async function checkAudit(
  store: AuditReader,
  scope: ChainScope,
  {
    limit = Infinity,
    heads = [],
  }: { readonly limit?: number; readonly heads?: readonly TenantHead[] } = {},
): Promise<CheckedAudit> {
  const told = new FindingList();
  const seals = await checkSeals(store, scope, { limit, heads, told });
  const entries = await checkUnsealed(store, scope, { limit, told });
  return {
    findings: told.first,
    more: told.more,
    sealed: seals.check.count,
    unsealed: entries.unsealed,
    heads: seals.check.heads(),
    isComplete: seals.isComplete && entries.isComplete,
  };
}

interface Walk {
  readonly limit: number;
  readonly told: FindingList;
}

async function checkSeals(
  store: AuditReader,
  scope: ChainScope,
  { limit, heads, told }: Walk & { readonly heads: readonly TenantHead[] },
): Promise<{ readonly check: ChainCheck; readonly isComplete: boolean }> {
  const check = new ChainCheck(sha256, heads);
  let after: SealPlace | undefined;
  for (;;) {
    const page = { limit: PAGE, ...(after === undefined ? {} : { after }) };
    const rows = await store.auditSeals(scope, page);
    for (const row of rows) told.add(check.add(row));
    if (rows.length < PAGE) break;
    if (check.count >= limit) return { check, isComplete: false };
    after = rows.at(-1);
  }
  const starts: TenantHead[] = [];
  for (const tenant of check.tenantsOfMissingHeads()) {
    const start = await store.chainStart(tenant);
    if (start !== null) starts.push({ tenant, ...start });
  }
  for (const finding of check.missingHeads(starts)) told.add(finding);
  return { check, isComplete: true };
}

async function checkUnsealed(
  store: AuditReader,
  scope: ChainScope,
  { limit, told }: Walk,
): Promise<{ readonly unsealed: number; readonly isComplete: boolean }> {
  // Read first: an entry that is older than this one has had its seal since then.
  const newest = await store.newestSealed(scope);
  let [unsealed, read] = [0, 0];
  for (let after: number | null | undefined; after !== null; read += PAGE) {
    if (read >= limit) return { unsealed, isComplete: false };
    const from: { after?: number } = after === undefined ? {} : { after };
    const page: UnsealedPage = await store.unsealedAudits(scope, { limit: PAGE, ...from });
    for (const { id, tenant, at } of page.entries) {
      if (!isLate({ id, at }, newest)) unsealed += 1;
      else told.add({ kind: "unsealed", tenant, day: null, position: null, auditId: id });
    }
    after = page.next;
  }
  return { unsealed, isComplete: true };
}

/** The first findings, and how many more there are. */
class FindingList {
  readonly first: AuditFinding[] = [];
  more = 0;

  add(finding: AuditFinding | null): void {
    if (finding === null) return;
    if (this.first.length < FINDINGS_MAX) this.first.push(finding);
    else this.more += 1;
  }
}
