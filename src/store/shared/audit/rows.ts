/** Rows of audit entries and seals, and the sweep that seals, as both stores have them. */
import {
  CHAIN_START,
  dayOf,
  sealsOf,
  type ChainHead,
  type Seal,
} from "../../../core/audit/chain.ts";
import type { SealedRow } from "../../../core/audit/verify.ts";
import type {
  AuditPage,
  AuditQuery,
  AuditRecord,
  ChainScope,
  SealPlace,
  UnsealedPage,
} from "../../types/audit.ts";
import { sha256 } from "../../../lib/sha256.ts";
import { bounded } from "../limits.ts";

export const AUDIT_PAGE_MAX = 1_000;
/** The most entries that one sweep seals, and that one call of retention removes. */
export const SEALED_MAX = 1_000;
/** Before and after every id, also one that was inserted past the store. */
export const FIRST_ID: number = Number.MIN_SAFE_INTEGER;
const LAST_ID = Number.MAX_SAFE_INTEGER;
/** Before every day. */
const FIRST_DAY = -1_000_000;

export interface AuditColumns {
  readonly id: number;
  readonly at: number;
  readonly tenant: string;
  readonly name: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly subject_kind: string;
  readonly subject: string;
  readonly before: string | null;
  readonly after: string | null;
}

export function auditRecord(row: AuditColumns): AuditRecord {
  const { subject_kind: subjectKind, tenant, ...rest } = row;
  return { ...rest, tenant: tenantOf(tenant), subjectKind };
}

function tenantOf(stored: string): string | null {
  return stored === "" ? null : stored;
}

interface ListParams {
  readonly tenant: string | null;
  readonly name: string | null;
  readonly actor: string | null;
  readonly kind: string | null;
  readonly subject: string | null;
  readonly since_at: number | null;
  readonly until_at: number | null;
  readonly after: number;
  readonly limit: number;
}

/** The parameters of a list. */
export function listParams(query: AuditQuery, page: AuditPage): ListParams {
  const { tenant, name = null, actor = null, subject, from = null, to = null } = query;
  return {
    tenant: scopeParam({ tenant }),
    name,
    actor,
    kind: subject?.kind ?? null,
    subject: subject?.name ?? null,
    since_at: from,
    until_at: to,
    after: page.after ?? (page.oldestFirst === true ? FIRST_ID : LAST_ID),
    limit: bounded(page.limit, AUDIT_PAGE_MAX),
  };
}

/** The stored tenant of a scope; null: all. */
export function scopeParam({
  tenant,
}: {
  readonly tenant?: string | null | undefined;
}): string | null {
  return tenant === undefined ? null : (tenant ?? "");
}

interface SealPageParams {
  readonly tenant: string | null;
  readonly after_tenant: string;
  readonly after_day: number;
  readonly after_position: number;
  readonly limit: number;
}

export function sealPageParams(
  scope: ChainScope,
  { after, limit }: { readonly after?: SealPlace; readonly limit: number },
): SealPageParams {
  return {
    tenant: scopeParam(scope),
    after_tenant: after?.tenant ?? "",
    after_day: after?.day ?? FIRST_DAY,
    after_position: after?.position ?? 0,
    limit: bounded(limit, AUDIT_PAGE_MAX),
  };
}

type Nullable<Row> = { readonly [Name in keyof Row]: Row[Name] | null };

export interface SealColumns extends Nullable<Omit<AuditColumns, "tenant">> {
  readonly tenant: string;
  readonly day: number;
  readonly position: number;
  readonly audit_id: number;
  readonly previous: string;
  readonly hash: string;
  readonly sealed_at: number;
  readonly start_day: number | null;
  readonly start_position: number | null;
  readonly start_hash: string | null;
  readonly entry_tenant: string | null;
}

export function sealedRow(row: SealColumns): SealedRow {
  const { day, position, previous, hash } = row;
  return {
    tenant: tenantOf(row.tenant),
    day,
    position,
    auditId: row.audit_id,
    previous,
    hash,
    sealedAt: row.sealed_at,
    entry: entryOf(row),
    start: startOf(row),
  };
}

function entryOf(row: SealColumns): AuditRecord | null {
  const { id, at, entry_tenant: tenant, name, subject_kind, subject } = row;
  if (id === null || at === null || tenant === null) return null;
  if (name === null || subject_kind === null || subject === null) return null;
  const { actor, reason, before, after } = row;
  const found = { id, at, tenant, name, actor, reason, subject_kind, subject, before, after };
  return auditRecord(found);
}

function startOf({ start_day, start_position, start_hash }: SealColumns): ChainHead | null {
  if (start_day === null || start_position === null || start_hash === null) return null;
  return { day: start_day, position: start_position, hash: start_hash };
}

/** Entries by the stored name of their tenant. */
export function byTenant(rows: readonly AuditColumns[]): ReadonlyMap<string, AuditColumns[]> {
  return Map.groupBy(rows, ({ tenant }) => tenant);
}

/** The seals of the next entries of one chain, as a query takes them. */
export function sealLines(
  head: ChainHead | undefined,
  rows: readonly AuditColumns[],
  sealedAt: number,
): readonly (Omit<Seal, "tenant"> & { readonly tenant: string })[] {
  const seals = sealsOf(head ?? CHAIN_START, rows.map(auditRecord), sealedAt, sha256);
  return seals.map((seal) => ({ ...seal, tenant: seal.tenant ?? "" }));
}

/** The first day that is kept: earlier days ended longer ago than the period. */
export function firstKeptDay(now: number, auditMs: number): number {
  return Math.max(FIRST_DAY, dayOf(now - auditMs));
}

interface ExpiredSeal {
  readonly tenant: string;
  readonly day: number;
  readonly position: number;
  readonly hash: string;
}

/** The last of these seals of each chain. */
export function lastOfChains<Row extends ExpiredSeal>(seals: readonly Row[]): readonly Row[] {
  return [...new Map(seals.map((seal) => [seal.tenant, seal])).values()];
}

export function unsealedPage(
  rows: readonly {
    readonly id: number;
    readonly at: number;
    readonly tenant: string;
    readonly is_sealed: boolean | number;
  }[],
  limit: number,
): UnsealedPage {
  const entries = rows
    .filter(({ is_sealed }) => is_sealed !== true && is_sealed !== 1)
    .map(({ id, at, tenant }) => ({ id, at, tenant: tenantOf(tenant) }));
  const last = rows.at(-1);
  return { entries, next: rows.length < limit || last === undefined ? null : last.id };
}
