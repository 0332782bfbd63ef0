/**
 * What must be true of services in every step: breakers change only as their state machine allows,
 * no job of a closed service is claimed except its probe, and a pause that a service has asked for
 * is kept.
 */
import { PRESET } from "../../fleet/jobs.ts";
import type { Report, Step } from "../invariants.ts";
import type { BreakerRow, HeldRow } from "../rows.ts";
import { CLOSED, HALF_OPEN, OPEN, openServices, parksOf } from "./barriers.ts";

const { failures: FAILURES_MAX, openMs: OPEN_MS } = PRESET.breaker;

type Count = (name: string) => void;

export function checkBreakers(step: Step, report: Report, count: Count): void {
  const { before, after } = step;
  if (before.uses !== after.uses || after.uses.size > 0) checkClaims(step, report);
  if (before.parks !== after.parks) checkParks(step, report);
  if (before.breakers === after.breakers) return;
  for (const [service, was] of before.breakers) {
    const now = after.breakers.get(service);
    if (now === undefined) report("I28", `the breaker of ${service} was removed`);
    else if (now !== was) checkChange(step, { was, now }, report, count);
  }
  for (const [service, now] of after.breakers) {
    if (!before.breakers.has(service)) checkChange(step, { was: NEW, now }, report, count);
  }
}

/** The breaker of a service before its first change. */
const NEW: BreakerRow = {
  service: 0,
  state: CLOSED,
  failure_count: 0,
  opened_at: null,
  probe_at: null,
  probe_key: null,
  probe_n: null,
  by: null,
};

interface Change {
  readonly was: BreakerRow;
  readonly now: BreakerRow;
}

function checkChange(step: Step, { was, now }: Change, report: Report, count: Count): void {
  const wrong = (what: string): void => report("I28", `breaker ${now.service} ${what}`);
  // Operators always give their name, and no call gives one.
  const isForced = now.by !== null && now.by !== was.by;
  if (was.state !== now.state) count(`breaker from ${was.state} to ${now.state}`);
  switch (now.state) {
    case CLOSED:
      if (was.state === OPEN && !isForced) wrong("was closed without a probe");
      if (was.state === CLOSED) checkCounting({ was, now }, wrong);
      else if (now.failure_count !== 0) checkTrial(step, { was, now }, wrong, count);
      return;
    case OPEN:
      checkOpened(step, { was, now }, wrong);
      return;
    case HALF_OPEN:
      checkProbe(step, { was, now }, wrong, count);
  }
}

/** Only a probe of several services leaves the failures of a breaker that it closes. */
function checkTrial(
  { before }: Step,
  { was, now }: Change,
  wrong: (what: string) => void,
  count: Count,
): void {
  count("breaker closed on trial");
  if (was.state !== HALF_OPEN || now.by !== null) wrong("is closed and remembers failures");
  if (now.failure_count !== was.failure_count) wrong("counts other failures on trial");
  const probe = before.jobs.get(was.probe_key ?? 0);
  const services = probe === undefined ? [] : (before.uses.get(probe.type) ?? []);
  if (services.length === 1) wrong("is on trial after a probe of one service");
}

function checkCounting({ was, now }: Change, wrong: (what: string) => void): void {
  const isNext = now.failure_count === was.failure_count + 1;
  if (now.failure_count !== 0 && now.failure_count !== was.failure_count && !isNext) {
    wrong(`counts ${now.failure_count} failures after ${was.failure_count}`);
  }
  if (now.failure_count >= FAILURES_MAX) wrong(`is closed after ${now.failure_count} failures`);
}

function checkOpened({ nowMs }: Step, { was, now }: Change, wrong: (what: string) => void): void {
  if (now.probe_at === null) {
    if (now.by === null) wrong("is open without a probe to come");
    return;
  }
  if (was.state === OPEN) {
    wrong("was opened again while it was open");
    return;
  }
  if (now.probe_at !== nowMs + OPEN_MS) wrong(`will be probed at ${now.probe_at}`);
  // A probe without a verdict opens its breaker again, and is no failure.
  const isUndecided = was.state === HALF_OPEN && now.failure_count === was.failure_count;
  const isFailure = now.failure_count === was.failure_count + 1;
  if (!isFailure && !isUndecided) wrong("was opened without a failure");
  const isEarly = was.state === CLOSED && now.failure_count < FAILURES_MAX;
  if (isEarly) wrong(`was opened after ${now.failure_count} failures`);
}

function checkProbe(
  { before, after, nowMs }: Step,
  { was, now }: Change,
  wrong: (what: string) => void,
  count: Count,
): void {
  const run = after.held.get(now.probe_key ?? 0)?.find(({ n }) => n === now.probe_n);
  if (run === undefined) wrong(`is probed by run ${now.probe_n} of ${now.probe_key}: none`);
  if (was.state === CLOSED) wrong("is probed although it was closed");
  // A breaker that opened while a clock was ahead is due at once.
  const isAhead = (was.opened_at ?? 0) > nowMs;
  const isEarly = was.probe_at === null || (was.probe_at > nowMs && !isAhead);
  if (was.state === OPEN && isEarly) wrong("is probed before its time");
  const isOther = was.probe_key !== now.probe_key || was.probe_n !== now.probe_n;
  if (was.state !== HALF_OPEN || !isOther) return;
  count("probe of a service replaced");
  const old = before.held.get(was.probe_key ?? 0)?.find(({ n }) => n === was.probe_n);
  if (old !== undefined) wrong(`has a second probe while run ${old.fence} goes on`);
}

/** No job is claimed whose service is closed, except the probe. */
function checkClaims(step: Step, report: Report): void {
  const { before, after, changed } = step;
  for (const key of changed) {
    const run = after.held.get(key)?.[0];
    const isNew = run !== undefined && before.held.get(key)?.[0]?.fence !== run.fence;
    if (isNew) checkClaimed(step, run, report);
  }
}

function checkClaimed({ before, after, nowMs }: Step, run: HeldRow, report: Report): void {
  const job = before.jobs.get(run.key);
  if (job === undefined) return;
  for (const service of openServices(before, job)) {
    const now = after.breakers.get(service);
    const isProbe = now?.probe_key === run.key && now.probe_n === run.n;
    if (!isProbe) report("I28", `job ${run.key} was claimed while service ${service} is closed`);
  }
  for (const { service, until } of parksOf(before, job, nowMs)) {
    report("I28", `job ${run.key} was claimed, and ${service} asked to wait until ${until}`);
  }
}

/**
 * Only an operator shortens a pause, unless the service asked for it while a clock was ahead. A
 * pause that is over leaves no job behind.
 */
function checkParks({ before, after, nowMs }: Step, report: Report): void {
  for (const [gate, was] of before.parks) {
    const now = after.parks.get(gate);
    const isAhead = was.asked_at > nowMs;
    if (now === undefined) {
      if (was.until > nowMs && !isAhead) report("I28", `the pause ${gate} was forgotten`);
      const left = [...after.places.values()].flat().filter((place) => place.gate === gate);
      if (left.length > 0) report("I21", `the pause ${gate} has left ${left.length} job(s) behind`);
      continue;
    }
    const isEnded = now.until === nowMs || isAhead;
    if (now.until < was.until && !isEnded) report("I28", `the pause ${gate} was shortened`);
  }
}
