/** `mill.tenants.export`: all data of one tenant, page by page. */
import type { TenantLine } from "../../api/control/tenants.ts";
import type { Clock } from "../../core/clock.ts";
import type { JsonText } from "../../core/job.ts";
import type { LetterPlace } from "../../store/types/letters.ts";
import type { DeadLetterRecord } from "../../store/types/records.ts";
import type { JobStore } from "../../store/store.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import type { JobHistory, UnitRecord } from "../../store/types/notes.ts";
import type { JobRecord } from "../../store/types/records.ts";
import { tenantStore } from "./tenant-store.ts";

/** Rows of one page: what an export holds in memory at the same time. */
const PAGE = 100;
const LOG_PAGE = 1_000;
/** Jobs whose runs, units and log lines are in memory at the same time. */
const HISTORIES = 25;
const NO_HISTORY: JobHistory = { attempts: [], progress: null, units: [], logs: [] };

/** The store of the tenant reads: an export cannot contain a row of another tenant. */
export async function* exportTenant(
  store: JobStore,
  clock: Pick<Clock, "now">,
  tenant: string,
): AsyncGenerator<TenantLine, void, undefined> {
  const own = tenantStore(store, tenant);
  const counts = new Map<string, number>();
  const parts = [
    [{ kind: "tenant", data: { tenant, exportedAt: new Date(clock.now()) } } as const],
    jobLines(own),
    letterLines(own),
    scheduleLines(own),
    tokenLines(own),
    settingLines(own, tenant),
    failureLines(own, tenant),
    viewLines(own, tenant),
    operationLines(own),
    auditLines(own),
    eventLines(own),
  ];
  for (const part of parts) {
    for await (const line of part) {
      counts.set(line.kind, (counts.get(line.kind) ?? 0) + 1);
      yield line;
    }
  }
  yield { kind: "end", data: { lines: Object.fromEntries(counts) } };
}

type Lines = AsyncGenerator<TenantLine, void, undefined>;

async function* jobLines(store: JobStore): Lines {
  for (let after: JobKey | undefined; ;) {
    const { jobs, next } = await store.list({}, { limit: PAGE, ...(after && { after }) });
    for (let first = 0; first < jobs.length; first += HISTORIES) {
      const few = jobs.slice(first, first + HISTORIES);
      const ids = few.map(({ id }) => id);
      const histories = await store.histories(ids, { units: PAGE, logs: LOG_PAGE });
      for (const [index, job] of few.entries()) yield* linesOfJob(store, job, histories[index]);
    }
    if (next === null) return;
    after = next;
  }
}

/** The log of a job has no more lines than a history. */
async function* linesOfJob(
  store: JobStore,
  record: JobRecord,
  { attempts, progress, units, logs }: JobHistory = NO_HISTORY,
): Lines {
  const { key: _key, payload, result, ...job } = record;
  const of = job.id;
  yield { kind: "job", of, data: { ...job, payload: parsed(payload), result: parsed(result) } };
  for (const attempt of attempts) yield { kind: "attempt", of, data: attempt };
  if (progress !== null && progress.phases.length > 0) yield { kind: "phases", of, data: progress };
  yield* unitLines(store, of, units);
  for (const log of logs) yield { kind: "log", of, data: log };
}

async function* unitLines(store: JobStore, of: string, first: readonly UnitRecord[]): Lines {
  for (let units = first; ;) {
    for (const { result, ...unit } of units) {
      yield { kind: "unit", of, data: { ...unit, result: parsed(result) } };
    }
    const after = units.at(-1);
    if (after === undefined || units.length < PAGE) return;
    units = await store.units(of, {}, { limit: PAGE, after });
  }
}

async function* letterLines(store: JobStore): Lines {
  for (let behind: LetterPlace | undefined; ;) {
    const letters: readonly DeadLetterRecord[] = await store.deadLetters(
      {},
      { limit: PAGE, ...(behind && { behind }) },
    );
    for (const { spec, ...letter } of letters) {
      yield { kind: "deadLetter", of: letter.id, data: { ...letter, spec: parsed(spec) } };
    }
    if (letters.length < PAGE) return;
    behind = letters.at(-1);
  }
}

async function* scheduleLines(store: JobStore): Lines {
  for (let after: string | undefined; ;) {
    const schedules = await store.schedules({}, { limit: PAGE, ...(after && { after }) });
    for (const schedule of schedules) {
      yield { kind: "schedule", of: schedule.name, data: schedule };
      for (const tick of await store.scheduleTicks(schedule.name, { limit: PAGE })) {
        yield { kind: "tick", of: schedule.name, data: tick };
      }
    }
    if (schedules.length < PAGE) return;
    after = schedules.at(-1)?.name;
  }
}

/** A record of a token has no secret and no hash of one. */
async function* tokenLines(store: JobStore): Lines {
  for (let after: string | undefined; ;) {
    const page = { limit: PAGE, ...(after && { after }) };
    const tokens = await store.tokens({ includeEnded: true }, page);
    for (const token of tokens) yield { kind: "token", of: token.id, data: token };
    if (tokens.length < PAGE) return;
    after = tokens.at(-1)?.id;
  }
}

/** What operators have set about the tenant. */
async function* settingLines(store: JobStore, tenant: string): Lines {
  const isOwn = ({ kind, name }: { readonly kind: string; readonly name: string }): boolean =>
    kind === "tenant" && name === tenant;
  const quota = await store.quotaUse(tenant);
  if (quota?.record.tenant === tenant) yield { kind: "quota", data: quota.record };
  for (const data of (await store.gates()).filter(isOwn)) yield { kind: "pause", data };
  for (const data of (await store.intakes()).filter(isOwn)) yield { kind: "intake", data };
  for (const data of await store.limits()) {
    if (isOwn(data) || data.tenant === tenant) yield { kind: "limit", data };
  }
  for (const { lane, weights } of await store.fairLanes()) {
    const weight = weights[tenant];
    if (weight !== undefined) yield { kind: "weight", of: lane, data: { lane, weight } };
  }
}

/** Decisions about causes, also of causes without an open dead letter. */
async function* failureLines(store: JobStore, tenant: string): Lines {
  for (let after: string | undefined; ;) {
    const page = { limit: PAGE, ...(after !== undefined && { after }) };
    const decisions = await store.failureDecisions(tenant, page);
    for (const data of decisions) yield { kind: "failure", of: data.cause, data };
    if (decisions.length < PAGE) return;
    after = decisions.at(-1)?.cause;
  }
}

/** The views of the tenant. Those of the installation belong to no tenant. */
async function* viewLines(store: JobStore, tenant: string): Lines {
  for (const view of await store.savedViews(tenant)) {
    if (view.tenant === tenant) yield { kind: "view", of: view.name, data: view };
  }
}

async function* operationLines(store: JobStore): Lines {
  for (let after: string | undefined; ;) {
    const page = { limit: PAGE, ...(after && { after }) };
    const operations = await store.operations({}, page);
    for (const operation of operations) {
      yield { kind: "operation", of: operation.id, data: operation };
      yield* itemLines(store, operation.id);
    }
    if (operations.length < PAGE) return;
    after = operations.at(-1)?.id;
  }
}

async function* itemLines(store: JobStore, of: string): Lines {
  for (let after = 0; ;) {
    const items = await store.operationItems(of, { after, limit: LOG_PAGE });
    for (const item of items) yield { kind: "operationItem", of, data: item };
    if (items.length < LOG_PAGE) return;
    after = items.at(-1)?.n ?? after;
  }
}

async function* auditLines(store: JobStore): Lines {
  for (let after: number | undefined; ;) {
    const from = after === undefined ? {} : { after };
    const entries = await store.audits({}, { limit: PAGE, oldestFirst: true, ...from });
    for (const { before, after: changed, ...entry } of entries) {
      const data = { ...entry, before: parsed(before), after: parsed(changed) };
      yield { kind: "audit", of: String(entry.id), data };
    }
    if (entries.length < PAGE) return;
    after = entries.at(-1)?.id;
  }
}

/** Up to the end that the feed has when the export reads it. */
async function* eventLines(store: JobStore): Lines {
  const end = await store.feedEnd();
  for (let position = await store.feedStart(); position < end;) {
    const entries = await store.feed(position, PAGE);
    const last = entries.at(-1);
    if (last === undefined) return;
    for (const { kind, at, jobs, details } of entries) {
      const data = { kind, at, jobs, details: details?.map(parsed) };
      if (jobs.length > 0) yield { kind: "event", data };
    }
    position = last.position;
  }
}

function parsed(text: JsonText | null): unknown {
  return text === null ? null : JSON.parse(text);
}
