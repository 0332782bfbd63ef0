/** `mill.audit`. */
import type {
  Audit,
  AuditEntry,
  AuditFilter,
  AuditFindingView,
  AuditHead,
  AuditVerdict,
} from "../../api/control/audit.ts";
import { aName, anObject, aWholeNumber, must, oneOf, type Rule } from "../../api/rules.ts";
import { AUDIT_NAMES, AUDIT_SUBJECTS } from "../../core/audit/names.ts";
import type { AuditFinding, AuditFindingKind, TenantHead } from "../../core/audit/verify.ts";
import { instantMs } from "../../core/duration.ts";
import { decode } from "../../core/payload.ts";
import { aText, anyRemark, insistOn } from "../../jobs/check-text.ts";
import { aMoment } from "../../jobs/enqueue-options.ts";
import type { JobStore } from "../../store/store.ts";
import type { AuditQuery, AuditRecord } from "../../store/types/audit.ts";
import { checkAudit } from "./verify.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
/** The entries of an export that are in memory. */
const EXPORT_PAGE = 500;
const DAY_MS = 86_400_000;

const QUERY: Readonly<Record<string, Rule>> = {
  tenant: (value, place) => (value === null ? null : aName(value, place)),
  name: oneOf(...Object.keys(AUDIT_NAMES)),
  actor: anyRemark,
  subject: anObject(
    { required: { kind: oneOf(...AUDIT_SUBJECTS), name: aText(500) }, optional: {} },
    'an object such as { kind: "lane", name: "fast" }',
  ),
  from: aMoment,
  to: aMoment,
};
const PAGED: Readonly<Record<string, Rule>> = {
  after: aWholeNumber({ min: 0 }),
  limit: aWholeNumber({ min: 1 }),
};
const EXAMPLE = 'an object such as { actor: "ada" }';
const FILTER = anObject({ required: {}, optional: { ...QUERY, ...PAGED } }, EXAMPLE);
const EXPORTED = anObject({ required: {}, optional: QUERY }, EXAMPLE);
const A_DAY = must(
  (value) =>
    typeof value === "string" &&
    /^\d{4,6}-\d\d-\d\d$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
  "a day such as 2026-01-31",
);
const A_HEAD = anObject(
  {
    required: {
      tenant: (value, place) => (value === null ? null : aName(value, place)),
      day: A_DAY,
      position: aWholeNumber({ min: 1 }),
      hash: must((value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value), "a hash"),
    },
    optional: {},
  },
  "a head of an earlier answer",
);
const VERIFIED = anObject(
  { required: {}, optional: { heads: someHeads } },
  "an object such as { heads: [] }",
);

function someHeads(value: unknown, place: string): ReturnType<Rule> {
  if (!Array.isArray(value)) return { place, problem: "must be a list of heads" };
  for (const [index, head] of value.entries()) {
    const mismatch = A_HEAD(head, `${place}[${index}]`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

export function makeAudit(store: JobStore): Audit {
  return {
    async list(filter = {}) {
      insistOn("audit.list", FILTER, filter, "");
      const { after, limit = PAGE_DEFAULT } = filter;
      const page = { limit: Math.min(limit, PAGE_MAX), ...(after === undefined ? {} : { after }) };
      return (await store.audits(queryOf(filter), page)).map(entryView);
    },
    export(filter = {}) {
      insistOn("audit.export", EXPORTED, filter, "");
      return exported(store, queryOf(filter));
    },
    async verify(options = {}) {
      insistOn("audit.verify", VERIFIED, options, "");
      const heads = (options.heads ?? []).map(headOf);
      return verdictOf(await checkAudit(store, {}, { heads }));
    },
  };
}

async function* exported(store: JobStore, query: AuditQuery): AsyncGenerator<string> {
  let after: number | undefined;
  for (;;) {
    const from = after === undefined ? {} : { after };
    const entries = await store.audits(query, { limit: EXPORT_PAGE, oldestFirst: true, ...from });
    for (const entry of entries) yield `${JSON.stringify(entryView(entry))}\n`;
    if (entries.length < EXPORT_PAGE) return;
    after = entries.at(-1)?.id;
  }
}

function queryOf({ tenant, name, actor, subject, from, to }: AuditFilter): AuditQuery {
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(name === undefined ? {} : { name }),
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : { subject }),
    ...(from === undefined ? {} : { from: instantMs(from, "from") }),
    ...(to === undefined ? {} : { to: instantMs(to, "to") }),
  };
}

function entryView(entry: AuditRecord): AuditEntry {
  const { id, at, tenant, name, actor, reason, subjectKind, subject, before, after } = entry;
  return {
    id,
    at: new Date(at),
    tenant,
    name,
    actor,
    reason,
    subject: { kind: subjectKind, name: subject },
    before: decode(before) ?? null,
    after: decode(after) ?? null,
  };
}

export function verdictOf(checked: Awaited<ReturnType<typeof checkAudit>>): AuditVerdict {
  const { findings, more, sealed, unsealed, heads } = checked;
  return {
    isIntact: findings.length === 0,
    findings: findings.map(findingView),
    more,
    sealed,
    unsealed,
    heads: heads.map((head) => ({ ...head, day: dayText(head.day) })),
  };
}

const MESSAGES: Readonly<Record<AuditFindingKind, string>> = {
  entry_removed: "the entry was removed",
  altered: "the entry or its seal was altered, swapped or forged",
  seals_removed: "entries and seals before this one were removed",
  unsealed: "the entry was inserted after later entries were sealed, or its seal was removed",
  head_removed: "the chain no longer has this head, which was exported before",
};

function findingView(finding: AuditFinding): AuditFindingView {
  const { kind, tenant, day, position, auditId } = finding;
  const whose = tenant === null ? "the installation" : `tenant ${JSON.stringify(tenant)}`;
  const place = day === null ? "" : `, ${dayText(day)}, position ${position}`;
  const entry = auditId === null ? "" : `, entry ${auditId}`;
  return {
    kind,
    tenant,
    day: day === null ? null : dayText(day),
    position,
    entryId: auditId,
    message: `audit of ${whose}${place}${entry}: ${MESSAGES[kind]}`,
  };
}

/** A seal that was altered may have any day. */
function dayText(day: number): string {
  const date = new Date(day * DAY_MS);
  return Number.isNaN(date.getTime()) ? `day ${day}` : date.toISOString().replace(/T.*/, "");
}

function headOf({ tenant, day, position, hash }: AuditHead): TenantHead {
  return { tenant, day: Date.parse(day) / DAY_MS, position, hash };
}
