/** `mill.breakers`: the circuit breakers of external services. */
import { aName, anObject, aWholeNumber, must } from "../../api/rules.ts";
import type { BreakerChangeView, Breakers, BreakerView } from "../../api/services/breakers.ts";
import { CLOSED } from "../../core/breaker.ts";
import { actOf } from "../../jobs/acted-by.ts";
import { checkRemark, insistOn } from "../../jobs/check-text.ts";
import { dateOf } from "../../jobs/views.ts";
import type { JobStore } from "../../store/store.ts";
import type { BreakerChange, BreakerRecord } from "../../store/types/services.ts";

const REASON_LENGTH_MAX = 500;
const HISTORY_LIMIT = 50;
/** The jobs that are counted for each breaker, and the breakers of a list whose jobs are. */
const WAITING_MAX = 10_000;
const COUNTED_MAX = 50;

const aReason = must(
  (value) => typeof value === "string" && value.length <= REASON_LENGTH_MAX,
  `a text of at most ${REASON_LENGTH_MAX} characters`,
);
const HISTORY_OPTIONS = anObject(
  { required: {}, optional: { limit: aWholeNumber({ min: 1, max: 1_000 }) } },
  "an object such as { limit: 10 }",
);

type BreakerStore = Pick<
  JobStore,
  "breakers" | "breakerChanges" | "openBreaker" | "resetBreaker" | "countBehind"
>;

export function makeBreakers(store: BreakerStore): Breakers {
  return {
    async list() {
      const views: BreakerView[] = [];
      let counted = 0;
      for (const record of await store.breakers()) {
        if (holdsJobs(record)) counted += 1;
        views.push(breakerView(record, await waitingFor(store, record, counted <= COUNTED_MAX)));
      }
      return views;
    },
    async get(service) {
      insistOn("breakers.get", aName, service, "service");
      const found = (await store.breakers()).find((each) => each.service === service);
      const record = found ?? unknownBreaker(service);
      return breakerView(record, await waitingFor(store, record, true));
    },
    async forceOpen(service, reason, by) {
      insistOn("breakers.forceOpen", aName, service, "service");
      checkRemark("breakers.forceOpen", "reason", reason);
      insistOn("breakers.forceOpen", aReason, reason, "reason");
      if (by !== undefined) checkRemark("breakers.forceOpen", "actor", by.actor);
      await store.openBreaker(service, { reason, by: by?.actor ?? null });
    },
    async reset(service, by) {
      insistOn("breakers.reset", aName, service, "service");
      const act = actOf("breakers.reset", by);
      return store.resetBreaker(service, act.by, act.reason);
    },
    async history(service, options = {}) {
      insistOn("breakers.history", aName, service, "service");
      insistOn("breakers.history", HISTORY_OPTIONS, options, "");
      const changes = await store.breakerChanges(service, options.limit ?? HISTORY_LIMIT);
      return changes.map(changeView);
    },
  };
}

/** A service that no type declares and whose breaker never changed. */
export function unknownBreaker(service: string): BreakerRecord {
  return { ...CLOSED, service, types: [], updatedAtMs: null, probe: null, parks: [] };
}

function holdsJobs({ state, parks }: BreakerRecord): boolean {
  return state !== "closed" || parks.length > 0;
}

async function waitingFor(
  store: BreakerStore,
  record: BreakerRecord,
  isCounted: boolean,
): Promise<BreakerView["waiting"]> {
  if (!holdsJobs(record)) return { count: 0, atLeast: false };
  if (!isCounted) return { count: 0, atLeast: true };
  const gate = { kind: "service", name: record.service } as const;
  const { jobs, shared, isExact, isSharedExact } = await store.countBehind(gate, WAITING_MAX);
  return { count: jobs + shared, atLeast: !isExact || !isSharedExact };
}

function breakerView(record: BreakerRecord, waiting: BreakerView["waiting"]): BreakerView {
  const { service, state, failures, successes, reason, by: changedBy, types } = record;
  return {
    service,
    state,
    failures,
    successes,
    lastFailureAt: dateOf(record.lastFailureAtMs),
    openedAt: dateOf(record.openedAtMs),
    halfOpenedAt: dateOf(record.halfOpenedAtMs),
    probeAt: dateOf(record.probeAtMs),
    probeJobId: record.probe?.job ?? null,
    reason,
    changedBy,
    updatedAt: dateOf(record.updatedAtMs),
    types,
    waiting,
    parkedUntil: record.parks.map(({ tenant, until, reason: why }) => ({
      tenant,
      until: new Date(until),
      reason: why,
    })),
  };
}

function changeView({ at, state, failures, reason, by }: BreakerChange): BreakerChangeView {
  return { at: new Date(at), state, failures, reason, changedBy: by };
}
