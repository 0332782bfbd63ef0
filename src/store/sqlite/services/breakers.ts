/** callServices, reportCalls and the verbs of operators about the breakers of services. */
import { CLOSED, forceOpen, reset, type Breaker } from "../../../core/breaker.ts";
import { idFromBytes } from "../../../core/ids.ts";
import { bounded } from "../../shared/limits.ts";
import {
  breakerOf,
  breakerRecord,
  BREAKERS_MAX,
  changeRecord,
  CHANGES_MAX,
  columnsOf,
  isChange,
  parkName,
  SENT_BACK_SEARCH,
} from "../../shared/services/breaker-rows.ts";
import {
  admit,
  applyReport,
  isOpenTo,
  type NewPark,
  type ServiceState,
} from "../../shared/services/service-state.ts";
import type {
  BreakerChange,
  BreakerRecord,
  CallAnswer,
  CallReport,
  ReportAnswer,
  ServiceCall,
  ServiceRun,
} from "../../types/services.ts";
import { breakerChanged } from "../../shared/audit/drafts.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { putWaiting } from "../queue/places.ts";

/** The answers of {@link callServices} if they change nothing. Called without the write lock. */
export function settledCalls(
  session: Session,
  calls: readonly ServiceCall[],
): readonly CallAnswer[] | null {
  const answers = calls.map((call) => admission(session, call));
  return answers.every(({ next, breaker }) => next === breaker)
    ? answers.map(({ answer }) => answer)
    : null;
}

/** The first run that asks when the probe is due is the probe. */
export function callServices(session: Session, calls: readonly ServiceCall[]): CallAnswer[] {
  return calls.map((call) => {
    const { id, answer, breaker, next } = admission(session, call);
    if (id !== undefined) putBreaker(session, id, breaker, next);
    return answer;
  });
}

interface Admission {
  readonly id: number | undefined;
  readonly answer: CallAnswer;
  readonly breaker: Breaker;
  readonly next: Breaker;
}

function admission(session: Session, { service, run, tenant }: ServiceCall): Admission {
  const { names, clock } = session;
  const id = names.find("service", service);
  const own = names.find("tenant", tenant);
  const state = stateOf(session, id, own);
  const isOver = (asked: ServiceRun): boolean => hasEnded(session, asked);
  const { answer, next } = admit(state, { run, tenant: own, isOver }, clock.now());
  return { id, answer, breaker: state.breaker, next };
}

/** The answers of {@link reportCalls} if they change nothing. Called without the write lock. */
export function settledReports(
  session: Session,
  reports: readonly CallReport[],
): readonly ReportAnswer[] | null {
  if (reports.some(({ outcome }) => outcome === "failed")) return null;
  const { names, clock } = session;
  const answers: ReportAnswer[] = [];
  for (const report of reports) {
    const state = stateOf(session, names.find("service", report.service), undefined);
    const context = { tenant: undefined, nowMs: clock.now() };
    const { answer, next } = applyReport(state, report, context);
    if (next !== state.breaker) return null;
    answers.push(answer);
  }
  return answers;
}

export function reportCalls(session: Session, reports: readonly CallReport[]): ReportAnswer[] {
  const { names, clock } = session;
  return reports.map((report) => {
    const id = names.id("service", report.service);
    const tenant = report.outcome === "failed" ? names.id("tenant", report.tenant) : undefined;
    const state = stateOf(session, id, tenant);
    const { answer, next, park } = applyReport(state, report, { tenant, nowMs: clock.now() });
    if (park !== null) putPark(session, { id, text: report.service }, park);
    putBreaker(session, id, state.breaker, next);
    return answer;
  });
}

/** Whether nothing keeps jobs of the tenant from calling the service. */
export function isServiceOpen(session: Session, service: string, tenant: number): boolean {
  const { names, clock } = session;
  return isOpenTo(stateOf(session, names.find("service", service), tenant), tenant, clock.now());
}

function hasEnded({ sql }: Session, { key, n }: ServiceRun): boolean {
  return sql.get("run_has_ended", { key, n })?.ended === 1;
}

function stateOf(
  session: Session,
  service: number | undefined,
  tenant: number | undefined,
): ServiceState {
  if (service === undefined) {
    return { breaker: CLOSED, hasEnded: false, pause: null, parks: new Map() };
  }
  const { sql, clock } = session;
  const now = clock.now();
  const row = sql.get("find_breaker", { service });
  const breaker = row === undefined ? CLOSED : breakerOf(row);
  const pause = sql.get("paused_until", { service, now });
  const until = sql.get("parked_until", { service, tenant: tenant ?? null, now })?.until ?? null;
  const { probe } = breaker;
  return {
    breaker,
    hasEnded: probe !== null && hasEnded(session, probe),
    pause: pause ?? null,
    parks: until === null ? new Map() : new Map([[null, until]]),
  };
}

/** Stores the next state, if it differs, and lets jobs go on if the breaker has closed. */
export function putBreaker(
  session: Session,
  service: number,
  before: Breaker,
  next: Breaker,
): void {
  if (next === before) return;
  const { sql, clock } = session;
  const now = clock.now();
  sql.run("put_breaker", { service, ...columnsOf(next), now });
  if (isChange(before, next)) {
    const { state, failure_count, reason, by } = columnsOf(next);
    sql.run("insert_breaker_change", { service, now, state, failure_count, reason, by });
  }
  if (next.state === "closed" && before.state !== "closed") openGate(session, service);
}

function openGate({ sql, clock, outbox, state }: Session, service: number): void {
  sql.run("mark_opened", { service, now: clock.now() });
  outbox.wake();
  // Claims have passed the jobs of the gate that `hold` has not moved.
  state.claimCursors.forget();
}

function putPark(
  { sql, names, clock }: Session,
  service: { readonly id: number; readonly text: string },
  { tenant, until, reason }: NewPark,
): void {
  const gate = tenant === null ? service.id : names.id("park", parkName(tenant, service.text));
  sql.run("put_park", {
    gate,
    service: service.id,
    tenant,
    until,
    reason,
    now: clock.now(),
  });
}

export function openBreaker(
  session: Session,
  service: string,
  why: { readonly reason: string; readonly by: string | null },
): void {
  const { names, clock } = session;
  const id = names.id("service", service);
  const { breaker: before } = stateOf(session, id, undefined);
  const after = forceOpen(before, { ...why, nowMs: clock.now() });
  putBreaker(session, id, before, after);
  writeAudits(session, [breakerChanged("breaker_opened", service, why, { before, after })]);
}

export function resetBreaker(
  session: Session,
  service: string,
  by: string | null,
  reason: string | null = null,
): boolean {
  const { sql, names, clock } = session;
  const id = names.find("service", service);
  if (id === undefined) return false;
  const { breaker } = stateOf(session, id, undefined);
  const isParked = sql.run("end_parks", { service: id, now: clock.now() }).changes > 0;
  if (isParked) openGate(session, id);
  const areHurried = hurrySentBack(session, service) > 0;
  const isClean = breaker.state === "closed" && breaker.failures === 0;
  if (isClean && !isParked && !areHurried) return false;
  const after = isClean ? breaker : reset(breaker, by);
  putBreaker(session, id, breaker, after);
  const act = { by, reason };
  const states = { before: breaker, after };
  writeAudits(session, [breakerChanged("breaker_reset", service, act, states)]);
  return true;
}

/** Jobs that are due later because the service has failed or was closed are due now. */
function hurrySentBack(session: Session, service: string): number {
  const { sql, clock } = session;
  const now = clock.now();
  const rows = sql.all("sent_back_keys", { service, now, ...SENT_BACK_SEARCH });
  for (const { key } of rows) {
    const job = sql.get("take_scheduled", { key });
    if (job === undefined) throw new Error(`job ${key} left scheduled inside a transaction`);
    putWaiting(session, job, now, now);
  }
  return rows.length;
}

export function breakers({ sql, names, clock }: Session): BreakerRecord[] {
  const within = { now: clock.now(), limit: BREAKERS_MAX };
  const parks = sql.all("list_parks", within);
  return sql.all("list_breakers", within).map((row) =>
    breakerRecord(names.text(row.service), row, {
      probe: row.probe_id === null ? null : idFromBytes(row.probe_id),
      parks: parks
        .filter(({ service }) => service === row.service)
        .map(({ tenant, until, reason }) => ({
          tenant: tenant === null ? null : names.text(tenant),
          until,
          reason,
        })),
    }),
  );
}

export function breakerChanges(
  { sql, names }: Session,
  service: string,
  limit: number,
): BreakerChange[] {
  const id = names.find("service", service);
  if (id === undefined) return [];
  const within = { service: id, limit: bounded(limit, CHANGES_MAX) };
  return sql.all("list_breaker_changes", within).map(changeRecord);
}
