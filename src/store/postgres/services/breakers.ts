/** callServices, reportCalls and the verbs of operators about the breakers of services. */
import { writeAudits } from "../audit/write.ts";
import { breakerChanged } from "../../shared/audit/drafts.ts";
import { forceOpen, reset, type Breaker } from "../../../core/breaker.ts";
import { MillraceError } from "../../../core/errors.ts";
import { bounded } from "../../shared/limits.ts";
import {
  breakerRecord,
  BREAKERS_MAX,
  changeRecord,
  CHANGES_MAX,
  parkName,
  SENT_BACK_SEARCH,
} from "../../shared/services/breaker-rows.ts";
import {
  admit,
  applyReport,
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
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list } from "../database/values.ts";
import {
  inTurn,
  readServices,
  serviceAt,
  type KnownService,
  type ParkRow,
} from "./service-rows.ts";

/** The breakers are locked only if a run may be a probe now. */
export async function callServices(
  session: Session,
  calls: readonly ServiceCall[],
): Promise<readonly CallAnswer[]> {
  await internAll(session, calls);
  const ids = idsOf(session, calls);
  const known = await readServices(session.read, ids);
  const answers = calls.map((call) => admission(session, known, call, () => false));
  if (answers.every(({ next, breaker }) => next === breaker)) {
    return answers.map(({ answer }) => answer);
  }
  return inTurn(session, ids, async (services, _parks, transaction) => {
    const isOver = await endedAmong(transaction, calls);
    return calls.map((call) => {
      const { id, answer, breaker, next } = admission(session, services, call, isOver);
      if (next === breaker) return answer;
      services.set(id, { ...serviceAt(services, id), breaker: next, hasEnded: false });
      return answer;
    });
  });
}

/** Which of the runs that ask are over. */
async function endedAmong(
  sql: Sql,
  calls: readonly ServiceCall[],
): Promise<(run: ServiceRun) => boolean> {
  const runs = calls.map(({ run }) => run);
  const keys = list(runs.map(({ key }) => key));
  const ended = await sql.all("ended_runs", { keys, ns: list(runs.map(({ n }) => n)) });
  return (run) => ended.some(({ key, n }) => key === run.key && n === run.n);
}

interface Admission {
  readonly id: number;
  readonly answer: CallAnswer;
  readonly breaker: Breaker;
  readonly next: Breaker;
}

function admission(
  session: Session,
  known: ReadonlyMap<number, KnownService>,
  { service, run, tenant }: ServiceCall,
  isOver: (run: ServiceRun) => boolean,
): Admission {
  const id = serviceId(session, service);
  const state = serviceAt(known, id);
  const own = session.names.known("tenant", tenant);
  const caller = { run, tenant: own, isOver };
  return { id, breaker: state.breaker, ...admit(state, caller, state.nowMs) };
}

/** Successes that change nothing are not written. */
export async function reportCalls(
  session: Session,
  reports: readonly CallReport[],
): Promise<readonly ReportAnswer[]> {
  await internAll(session, reports);
  const ids = idsOf(session, reports);
  if (reports.every(({ outcome }) => outcome === "succeeded")) {
    const known = await readServices(session.read, ids);
    const applied = reports.map((report) => applied1(session, known, report));
    if (applied.every(({ next, breaker }) => next === breaker)) {
      return applied.map(({ answer }) => answer);
    }
  }
  await internParks(session, reports);
  return inTurn(session, ids, (services, parks) =>
    reports.map((report) => {
      const { id, answer, next, park } = applied1(session, services, report);
      const state = serviceAt(services, id);
      if (park !== null) parks.push(parkRow(session, { id, text: report.service }, park));
      const known = park === null ? state.parks : withPark(state.parks, park);
      services.set(id, { ...state, breaker: next, parks: known });
      return answer;
    }),
  );
}

function withPark(parks: ServiceState["parks"], park: NewPark): ServiceState["parks"] {
  return new Map(parks).set(park.tenant, Math.max(parks.get(park.tenant) ?? 0, park.until));
}

interface Applied extends Pick<Admission, "id" | "breaker" | "next"> {
  readonly answer: ReportAnswer;
  readonly park: NewPark | null;
}

function applied1(
  session: Session,
  known: ReadonlyMap<number, KnownService>,
  report: CallReport,
): Applied {
  const id = serviceId(session, report.service);
  const state = serviceAt(known, id);
  const tenant =
    report.outcome === "failed" ? session.names.known("tenant", report.tenant) : undefined;
  const { nowMs, breaker } = state;
  return { id, breaker, ...applyReport(state, report, { tenant, nowMs }) };
}

async function internAll(
  { names }: Session,
  named: readonly (ServiceCall | CallReport)[],
): Promise<void> {
  const tenants = named.flatMap((each) => ("tenant" in each ? [each.tenant] : []));
  await names.intern([
    ...named.map(({ service: text }) => ({ kind: "service", text }) as const),
    ...tenants.map((text) => ({ kind: "tenant", text }) as const),
  ]);
}

async function internParks({ names }: Session, reports: readonly CallReport[]): Promise<void> {
  const parks = reports.flatMap((report) => {
    if (report.outcome !== "failed" || (report.park?.tenant ?? null) === null) return [];
    const tenant = names.known("tenant", report.tenant);
    return tenant === undefined ? [] : [parkName(tenant, report.service)];
  });
  await names.intern(parks.map((text) => ({ kind: "park", text }) as const));
}

function parkRow(
  { names }: Session,
  service: { readonly id: number; readonly text: string },
  park: NewPark,
): ParkRow {
  const gate =
    park.tenant === null ? service.id : names.known("park", parkName(park.tenant, service.text));
  if (gate === undefined) throw refusedName();
  return { ...park, gate, service: service.id };
}

function serviceId({ names }: Session, service: string): number {
  const id = names.known("service", service);
  if (id === undefined) throw refusedName();
  return id;
}

function refusedName(): MillraceError {
  return new MillraceError("STORE_REFUSED", "the database refused the name of a service");
}

function idsOf(session: Session, named: readonly { readonly service: string }[]): number[] {
  return [...new Set(named.map(({ service }) => serviceId(session, service)))];
}

export async function openBreaker(
  session: Session,
  service: string,
  why: { readonly reason: string; readonly by: string | null },
): Promise<void> {
  await session.names.intern([{ kind: "service", text: service }]);
  const id = serviceId(session, service);
  await inTurn(
    session,
    [id],
    (services) => {
      const state = serviceAt(services, id);
      const { breaker: before, nowMs } = state;
      const after = forceOpen(before, { ...why, nowMs });
      services.set(id, { ...state, breaker: after });
      return { before, after };
    },
    async (transaction, states, isRepeat) => {
      const draft = breakerChanged("breaker_opened", service, why, states);
      await writeAudits(transaction, [draft], isRepeat);
      return states;
    },
  );
}

export async function resetBreaker(
  session: Session,
  service: string,
  by: string | null,
  reason: string | null = null,
): Promise<boolean> {
  const id = await session.names.id("service", service);
  if (id === undefined) return false;
  const act = { by, reason };
  const done = await inTurn(
    session,
    [id],
    (services) => {
      const state = serviceAt(services, id);
      const { breaker: before } = state;
      const isClean = before.state === "closed" && before.failures === 0;
      const after = isClean ? before : reset(before, by);
      services.set(id, { ...state, breaker: after });
      return { before, after, isReset: !isClean, isParked: false };
    },
    async (transaction, states) => {
      const isParked = (await transaction.run("delete_parks", { service: id })) > 0;
      if (isParked || states.isReset) {
        await writeAudits(transaction, [breakerChanged("breaker_reset", service, act, states)]);
      }
      return { ...states, isParked };
    },
  );
  const isTold = done.isReset || done.isParked;
  const areHurried = await hurrySentBack(session, service, async (transaction) => {
    const states = { before: done.after, after: done.after };
    if (isTold) return;
    await writeAudits(transaction, [breakerChanged("breaker_reset", service, act, states)]);
  });
  if (done.isParked || areHurried) session.wakeForReturned("work");
  return isTold || areHurried;
}

/** Beside the breaker, whose lock reports of calls wait for. */
async function hurrySentBack(
  session: Session,
  service: string,
  changed: (transaction: StoreTransaction) => Promise<void>,
): Promise<boolean> {
  const search = { service, ...SENT_BACK_SEARCH };
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      if ((await transaction.run("hurry_sent_back", search)) === 0) return false;
      await changed(transaction);
      return true;
    }),
  );
}

export async function breakers({ read, names }: Session): Promise<readonly BreakerRecord[]> {
  const parks = await read.all("list_parks", { limit: BREAKERS_MAX });
  const rows = await read.all("list_breakers", { limit: BREAKERS_MAX });
  await names.learn([...rows, ...parks].map(({ service }) => service));
  await names.learn(parks.flatMap(({ tenant }) => tenant ?? []));
  return rows.map((row) =>
    breakerRecord(names.text(row.service), row, {
      probe: row.probe_id,
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

export async function breakerChanges(
  { read, names }: Session,
  service: string,
  limit: number,
): Promise<readonly BreakerChange[]> {
  const id = await names.id("service", service);
  if (id === undefined) return [];
  const within = { service: id, limit: bounded(limit, CHANGES_MAX) };
  return (await read.all("list_breaker_changes", within)).map(changeRecord);
}
