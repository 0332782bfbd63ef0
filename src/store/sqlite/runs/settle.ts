/** settle: ends runs. `rescue` and `intervene` share {@link endRuns}. */
import { isSuccess } from "../../../core/outcome.ts";
import { endOf, outboxEventsOf } from "../../shared/run-end.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import { awaitedService, dueNow } from "../../shared/services/vain-wait.ts";
import type { JobKey, SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import { resetStreaks } from "../queue/crash-streaks.ts";
import { resolveSomeDependencies, putBackBehind } from "../queue/dependencies.ts";
import { dropCancelRequests, findCancelRequests } from "./cancel-requests.ts";
import { insertDeadLetter } from "./dead-letter.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { keepRuns } from "./lease.ts";
import { findLease, findRun, type OpenLease } from "./lease-proof.ts";
import { releaseEnded, insertAttempt, type EndedRun } from "./attempts.ts";
import { keepNote } from "./record.ts";
import { dropMissing, splitMissing } from "./missing-jobs.ts";
import { countRuns } from "./count-runs.ts";
import { bisect } from "../batching/fallback.ts";
import type { Session } from "../database/session.ts";
import { putWaiting } from "../queue/places.ts";
import { isServiceOpen } from "../services/breakers.ts";

/** Applies settlements whose lease still holds the run; the others are `stale`. */
export function settle(session: Session, items: readonly SettleItem[]): readonly SettleAnswer[] {
  const leases = new Map<string, OpenLease | null>();
  const taken = items.map((item) => takeRun(findLease(session, leases, item.lease), item));
  const { missing } = splitMissing(
    session,
    taken.filter((run) => run !== null),
  );
  dropMissing(session, missing);
  const runs = taken.map((run) =>
    run === null || missing.includes(run.key) ? null : withoutVainWait(session, run),
  );
  items.forEach(({ note }, index) => {
    const run = runs[index] ?? null;
    if (note !== undefined && run !== null) keepNote(session, run, note);
  });
  endRuns(
    session,
    runs.filter((run) => run !== null),
  );
  for (const lease of leases.values()) {
    if (lease === null) continue;
    const isNarrowed = missing.length > 0 && lease.open.size > 0;
    if (isNarrowed) keepRuns(session, lease.row, [...lease.open.values()]);
    if (lease.open.size === 0) session.sql.run("delete_lease", { number: lease.row.number });
  }
  const succeeded = items.filter(
    ({ settlement }, index) => runs[index] !== null && isSuccess(settlement),
  );
  enqueueChildren(
    session,
    succeeded.flatMap(({ children = [] }) => children),
  );
  return runs.map((run, index) => {
    if (run !== null) return "settled";
    return taken[index] === null ? "stale" : "missing";
  });
}

/** The same with bisection: a settlement that the database refuses affects no other. */
export function settleParts(
  session: Session,
  items: readonly SettleItem[],
): readonly SettleAnswer[] {
  const work = (part: readonly SettleItem[]): readonly SettleAnswer[] => settle(session, part);
  return bisect(session, items, work, (_, error) => refusalBy(error));
}

/** The run to end, if the lease still holds it. Each run can be taken once per call. */
function takeRun(lease: OpenLease | null, item: SettleItem): EndedRun | null {
  const run = findRun(lease, item);
  if (lease === null || run === null) return null;
  const { key, n, settlement } = item;
  lease.open.delete(key);
  return { ...run, lease: lease.row, key, n, settlement };
}

/** A job that was sent back by a service that has opened since is due now. */
function withoutVainWait(session: Session, run: EndedRun): EndedRun {
  const { key, settlement } = run;
  const service = awaitedService(settlement);
  const tenant =
    service === undefined ? undefined : session.sql.get("waiting_fields", { key })?.tenant;
  if (service === undefined || tenant === undefined) return run;
  return isServiceOpen(session, service, tenant) ? { ...run, settlement: dueNow(settlement) } : run;
}

/** Inserts ledger rows for open runs, and makes their jobs final or lets them wait again. */
export function endRuns(session: Session, runs: readonly EndedRun[]): void {
  const { clock, outbox } = session;
  const now = clock.now();
  const requests = findCancelRequests(
    session,
    runs.map(({ key }) => key),
  );
  const ends = runs.map((run) => {
    const end = endOf(run.settlement, requests.get(run.key));
    const nextRunAt = end.delayMs === null ? null : now + end.delayMs;
    insertAttempt(session, run, { ...end, nextRunAt }, now);
    if (nextRunAt !== null) requeue(session, run, nextRunAt, now);
    if (end.state === "failed") insertDeadLetter(session, run.key, run.settlement, now);
    return { ...run, state: end.state, outcome: end.outcome };
  });
  countRuns(session, ends, now);
  const onCommit = (at: number): void => session.state.ownEvents.ended(runs, at, now);
  for (const event of outboxEventsOf(ends)) outbox.add({ ...event, onCommit });
  dropCancelRequests(session, [...requests.keys()]);
  resetStreaks(session, succeededOf(runs));
  if (releaseEnded(session, ends)) resolveSomeDependencies(session);
}

function succeededOf(runs: readonly EndedRun[]): readonly JobKey[] {
  return runs.filter(({ settlement }) => isSuccess(settlement)).map(({ key }) => key);
}

function requeue(session: Session, run: EndedRun, runAt: number, now: number): void {
  const { key, n, settlement } = run;
  const { tries, crashes } = settlement;
  const place = session.sql.get("waiting_fields", { key });
  if (place === undefined) throw new Error(`job ${key} has ended a run but has no row`);
  const job = { ...place, key, rank: 0, n: n + 1, tries, crashes };
  // An operator may have ended the wait of a job with open dependencies: it still has them.
  if (!putBackBehind(session, job, runAt)) putWaiting(session, job, runAt, now);
}
