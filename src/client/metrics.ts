/** `mill.metrics`: figures about ended runs. */
import type {
  Metrics,
  MetricsQuery,
  Quantiles,
  RunFigures,
  RunMetrics,
} from "../api/metrics/metrics.ts";
import { anObject, isDuration, must, type Rule } from "../api/rules.ts";
import type { Clock } from "../core/clock.ts";
import { durationMs, instantMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import {
  EMPTY_HISTOGRAM,
  mergeHistograms,
  quantile,
  type Histogram,
} from "../core/metrics/histogram.ts";
import type { OutcomeName } from "../core/outcome.ts";
import { aText, insistOn } from "../jobs/check-text.ts";
import { aMoment } from "../jobs/enqueue-options.ts";
import type { JobStore } from "../store/store.ts";
import type * as store from "../store/types/minutes.ts";

const MINUTE_MS = 60_000;
const STRETCH_MS = 60 * MINUTE_MS;
const STEPS_MAX = 1_500;
const DEPLOYS_MAX = 1_000;
const NAME_LENGTH_MAX = 200;

const aStep = must(
  (value) => isDuration(value, { minMs: MINUTE_MS }),
  'a duration of whole minutes such as "5m"',
);

const QUERY: { readonly [K in keyof Required<MetricsQuery>]: Rule } = {
  from: aMoment,
  to: aMoment,
  step: aStep,
  type: aText(NAME_LENGTH_MAX),
  lane: aText(NAME_LENGTH_MAX),
};
const A_STRETCH = anObject(
  { required: {}, optional: { from: aMoment, to: aMoment } },
  "an object such as { from: new Date(0) }",
);
const A_QUERY = anObject({ required: {}, optional: QUERY }, 'an object such as { type: "email" }');

export function makeMetrics(
  { minutes, deploys }: Pick<JobStore, "minutes" | "deploys">,
  clock: Pick<Clock, "now">,
): Metrics {
  return {
    async read(given = {}) {
      insistOn("metrics.read", A_QUERY, given, "");
      const query = queryOf(given, clock.now());
      return metricsOf(query, await minutes(query), clock.now());
    },
    async deploys(given = {}) {
      insistOn("metrics.deploys", A_STRETCH, given, "");
      const now = clock.now();
      const { from, to } = stretchOf(given, now);
      // A deploy of this moment is in the stretch up to now, also at a whole minute.
      const until = given.to === undefined ? Math.max(to, now + 1) : to;
      const found = await deploys({ from, to: until }, DEPLOYS_MAX);
      return found.map(({ appVersion, at }) => ({ appVersion, at: new Date(at) }));
    },
  };
}

/** Whole minutes, by default the last hour. */
function stretchOf(
  { from, to }: Pick<MetricsQuery, "from" | "to">,
  now: number,
): Pick<store.MinutesQuery, "from" | "to"> {
  const end = Math.ceil((to === undefined ? now : instantMs(to, "to")) / MINUTE_MS) * MINUTE_MS;
  const begin = from === undefined ? end - STRETCH_MS : instantMs(from, "from");
  const start = Math.max(0, Math.floor(begin / MINUTE_MS) * MINUTE_MS);
  if (start > end) throw refused("from", "from is after to");
  return { from: start, to: end };
}

function queryOf(given: MetricsQuery, now: number): store.MinutesQuery {
  const { step, type, lane } = given;
  const { from: start, to: end } = stretchOf(given, now);
  const stepMs = step === undefined ? null : durationMs(step, "step");
  if (stepMs !== null && stepMs % MINUTE_MS !== 0) {
    throw refused("step", "step must be whole minutes");
  }
  if (stepMs !== null && (end - start) / stepMs > STEPS_MAX) {
    throw refused("step", `a stretch has at most ${STEPS_MAX} steps: give a longer step`);
  }
  return {
    from: start,
    to: end,
    stepMs,
    ...(type === undefined ? {} : { type }),
    ...(lane === undefined ? {} : { lane }),
  };
}

function refused(option: string, problem: string): MillraceError {
  return new MillraceError("OPTION_INVALID", `metrics: ${problem}`, { details: { option } });
}

function metricsOf(
  { from, to, stepMs }: store.MinutesQuery,
  { figures, isCutShort }: store.MinutesAnswer,
  now: number,
): RunMetrics {
  const groups = Map.groupBy(figures, ({ at, type, lane }) => JSON.stringify([at, type, lane]));
  const steps = stepMs === null ? [] : Map.groupBy(figures, ({ at }) => at);
  /** A part of the step may be outside of the stretch, or in the future. */
  const passedMs = (at: number, lengthMs: number): number =>
    Math.max(1_000, Math.min(at + lengthMs, to, now) - Math.max(at, from));
  return {
    fromAt: new Date(from),
    toAt: new Date(to),
    total: figuresOf(figures, passedMs(from, to - from)),
    groups: [...groups.values()].map((group) => {
      const { at, type, lane } = group[0]!;
      const sums = figuresOf(group, passedMs(at, stepMs ?? to - from));
      return { at: new Date(at), type, lane, ...sums };
    }),
    steps: [...steps]
      .map(([at, parts]) => ({ at, sums: figuresOf(parts, passedMs(at, stepMs ?? 0)) }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, sums }) => ({ at: new Date(at), ...sums })),
    cutShort: isCutShort,
  };
}

const NO_OUTCOMES: Readonly<Record<OutcomeName, number>> = {
  succeeded: 0,
  failed: 0,
  timed_out: 0,
  crashed: 0,
  cancelled: 0,
  interrupted: 0,
  snoozed: 0,
};

function figuresOf(parts: readonly store.MinuteFigures[], passedMs: number): RunFigures {
  const outcomes = { ...NO_OUTCOMES };
  let [runs, waitMs, runMs] = [0, 0, 0];
  let [waits, times]: Histogram[] = [EMPTY_HISTOGRAM, EMPTY_HISTOGRAM];
  for (const part of parts) {
    outcomes[part.outcome] += part.count;
    runs += part.count;
    waitMs += part.waitMs;
    runMs += part.runMs;
    waits = mergeHistograms(waits ?? EMPTY_HISTOGRAM, part.waits);
    times = mergeHistograms(times ?? EMPTY_HISTOGRAM, part.runs);
  }
  const errors = outcomes.failed + outcomes.timed_out + outcomes.crashed;
  const judged = errors + outcomes.succeeded;
  return {
    runs,
    outcomes,
    perSecond: (runs * 1_000) / passedMs,
    errorRate: judged === 0 ? null : errors / judged,
    wait: quantilesOf(waits ?? EMPTY_HISTOGRAM, waitMs / runs),
    run: quantilesOf(times ?? EMPTY_HISTOGRAM, runMs / runs),
  };
}

function quantilesOf(histogram: Histogram, mean: number): Quantiles {
  return {
    mean: histogram.length === 0 ? null : mean,
    p50: quantile(histogram, 0.5),
    p95: quantile(histogram, 0.95),
    p99: quantile(histogram, 0.99),
  };
}
