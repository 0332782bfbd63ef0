/**
 * Where the bars of attempts and phases stand. Places are shares of the width between the first and
 * the last moment. Pure: the time is an argument.
 */
import type { Attempt, Job, Phase } from "../../../api/operations.gen.ts";
import { durationText } from "../../../lib/format.ts";
import type { StateName } from "../../../parts/state.tsx";

export type Tone = "wait" | "whole" | "run" | "failed" | "interrupted" | "held";

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

export interface Row {
  readonly key: string;
  readonly kind: "attempt" | "phase";
  readonly state: StateName;
  readonly label: string;
  readonly note: string;
  readonly bars: readonly Bar[];
  /** What the bars say, in words. */
  readonly text: string;
}

export interface Waterfall {
  readonly from: number;
  readonly rows: readonly Row[];
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
  /** Where now is, for a job that has not ended. */
  readonly now: number | null;
}

export interface WaterfallFacts {
  readonly job: Pick<
    Job,
    "state" | "createdAt" | "scheduledAt" | "runAt" | "startedAt" | "finishedAt" | "attempts"
  >;
  readonly attempts: readonly Attempt[];
  readonly phases: readonly Phase[];
  /** Something holds the waiting job back, as `explainJob` says. */
  readonly isHeld: boolean;
  readonly now: number;
}

/** One start of the job, or its present wait. */
interface Run {
  readonly number: number;
  readonly waitFrom: number;
  readonly from: number | null;
  readonly to: number;
  readonly state: StateName;
  readonly note: string;
  readonly tone: Tone;
  readonly isOpen: boolean;
}

export function waterfallOf(facts: WaterfallFacts): Waterfall {
  const runs = runsOf(facts);
  const from = Math.min(dueAt(facts.job), ...runs.map(({ waitFrom }) => waitFrom));
  const isOver = facts.job.finishedAt !== null;
  const ends = runs.map(({ to }) => to);
  const to = Math.max(from + 1, ...ends, isOver ? 0 : facts.now);
  const share = (at: number): number => Math.max(0, Math.min(1, (at - from) / (to - from)));
  const rows = runs.flatMap((run, index) => [
    attemptRow(run, facts, share),
    ...phaseRows(run, facts, share, index === runs.length - 1),
  ]);
  return {
    from,
    rows,
    ticks: ticksOf(to - from),
    now: isOver || facts.now >= to ? null : share(facts.now),
  };
}

/** A job that was planned for later begins when it was due. */
function dueAt({ createdAt, scheduledAt, state, startedAt }: WaterfallFacts["job"]): number {
  if (state === "scheduled" && startedAt === null) return Date.parse(createdAt);
  return Math.max(Date.parse(createdAt), Date.parse(scheduledAt));
}

const ENDS: Readonly<Record<string, readonly [StateName, string, Tone]>> = {
  succeeded: ["completed", "succeeded", "run"],
  failed: ["failed", "failed", "failed"],
  timed_out: ["failed", "ran too long", "failed"],
  crashed: ["failed", "worker died", "failed"],
  cancelled: ["cancelled", "cancelled", "interrupted"],
  interrupted: ["cancelled", "interrupted", "interrupted"],
  snoozed: ["scheduled", "snoozed", "interrupted"],
};

function runsOf(facts: WaterfallFacts): readonly Run[] {
  const { job, attempts } = facts;
  const runs: Run[] = [];
  let waitFrom = dueAt(job);
  let charged = 0;
  for (const attempt of attempts) {
    const [state, word, tone] = ENDS[attempt.outcome] ?? ["completed", attempt.outcome, "run"];
    const isLast = attempt === attempts.at(-1);
    const hasErrors = isLast && job.state === "completed_with_errors" && state === "completed";
    const to = Date.parse(attempt.finishedAt);
    const from = attempt.startedAt === null ? null : Date.parse(attempt.startedAt);
    runs.push({
      number: attempt.number,
      waitFrom: Math.min(waitFrom, from ?? to),
      from,
      to,
      state: hasErrors ? "completed_with_errors" : state,
      note: attempt.attempts === charged ? `${word}, not charged` : word,
      tone,
      isOpen: false,
    });
    charged = attempt.attempts;
    waitFrom = to;
  }
  const open = openRun(facts, waitFrom, (attempts.at(-1)?.number ?? 0) + 1);
  return open === null ? runs : [...runs, open];
}

/** The present run or wait, or the wait that ended without a run. */
function openRun(
  { job, isHeld, now, attempts }: WaterfallFacts,
  waitFrom: number,
  number: number,
): Run | null {
  const base = { number, waitFrom, isOpen: true } as const;
  if (job.state === "running") {
    const from = Date.parse(job.startedAt ?? job.createdAt);
    return {
      ...base,
      waitFrom: Math.min(waitFrom, from),
      from,
      to: Math.max(now, from),
      state: "running",
      note: "running",
      tone: "run",
    };
  }
  if (job.finishedAt !== null) {
    if (attempts.length > 0) return null;
    const state = job.state === "cancelled" ? "cancelled" : "failed";
    const to = Date.parse(job.finishedAt);
    return {
      ...base,
      from: null,
      to,
      state,
      note: `${state} before it ran`,
      tone: "wait",
      isOpen: false,
    };
  }
  if (job.state === "scheduled") {
    const to = Math.max(waitFrom, Date.parse(job.runAt ?? job.scheduledAt));
    const isRetry = attempts.length > 0;
    return {
      ...base,
      from: null,
      to,
      state: isRetry ? "retrying" : "scheduled",
      note: "planned",
      tone: "wait",
    };
  }
  const held = { state: "held", note: "held", tone: "held" } as const;
  const queued = { state: "queued", note: "waiting", tone: "wait" } as const;
  return { ...base, from: null, to: Math.max(now, waitFrom), ...(isHeld ? held : queued) };
}

/** A failed or interrupted bar has an end in its own colour. */
const END_SHARE = 0.012;

function barsOf(from: number, to: number, tone: Tone, body: Tone): readonly Bar[] {
  if (tone !== "failed" && tone !== "interrupted") return [{ from, to, tone: body }];
  const cut = Math.max(from, to - END_SHARE);
  return [
    { from, to: cut, tone: body },
    { from: cut, to, tone },
  ];
}

function attemptRow(run: Run, { phases }: WaterfallFacts, share: (at: number) => number): Row {
  const { number, waitFrom, from, to, tone, state, note } = run;
  const body: Tone = phases.length > 0 ? "whole" : "run";
  const wait = {
    from: share(waitFrom),
    to: share(from ?? to),
    tone: from === null ? tone : "wait",
  } as const;
  return {
    key: `attempt ${number}`,
    kind: "attempt",
    state,
    label: from === null && run.isOpen ? `Next attempt` : `Attempt ${number}`,
    note,
    bars: from === null ? [wait] : [wait, ...barsOf(share(from), share(to), tone, body)],
    text: attemptText(run),
  };
}

function attemptText({ waitFrom, from, to, isOpen, tone, state, note }: Run): string {
  const wait = durationText((from ?? to) - waitFrom);
  if (from === null) {
    if (tone === "held") return `held ${wait}, until now`;
    if (note === "planned") return `${state === "retrying" ? "waits" : "planned"} ${wait}`;
    return isOpen ? `waits ${wait}, until now` : `waited ${wait}`;
  }
  return `waited ${wait}, ${isOpen ? "runs" : "ran"} ${durationText(to - from)}`;
}

const PHASE_STATES: Readonly<Record<Phase["state"], StateName>> = {
  pending: "queued",
  running: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** The state in which people see a phase: some of its units may have failed. */
export function phaseState({ state, units }: Phase): StateName {
  if (state === "completed" && units.failed > 0) return "completed_with_errors";
  return PHASE_STATES[state];
}

/** The phases under way in a run. A phase that has not begun stands under the last one. */
function phaseRows(
  run: Run,
  { phases }: WaterfallFacts,
  share: (at: number) => number,
  isLast: boolean,
): readonly Row[] {
  return phases.flatMap((phase) => {
    const part = partOf(phase, run);
    if (part === null && !(isLast && phase.startedAt === null)) return [];
    const isEnded =
      part !== null && (phase.finishedAt === null || Date.parse(phase.finishedAt) > run.to);
    const tone = phase.state === "failed" ? "failed" : isEnded && !run.isOpen ? run.tone : "run";
    const state = part !== null && isEnded && !run.isOpen ? run.state : phaseState(phase);
    return [
      {
        key: `${run.number} ${phase.name}`,
        kind: "phase",
        state,
        label: phase.name,
        note: "",
        bars: part === null ? [] : barsOf(share(part[0]), share(part[1]), tone, "run"),
        text: part === null ? "not started" : phaseText(phase, part),
      },
    ];
  });
}

/** When a phase was under way in a run. */
function partOf(phase: Phase, run: Run): readonly [number, number] | null {
  if (phase.startedAt === null || run.from === null) return null;
  const from = Math.max(Date.parse(phase.startedAt), run.from);
  const to = Math.min(phase.finishedAt === null ? run.to : Date.parse(phase.finishedAt), run.to);
  return from > to || Date.parse(phase.startedAt) > run.to ? null : [from, to];
}

function phaseText({ units }: Phase, [from, to]: readonly [number, number]): string {
  const failed = units.failed === 0 ? "" : `, ${units.failed} of ${units.total} units failed`;
  return `${durationText(to - from)}${failed}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 5, 10, 30, 100, 365].map((each) => each * DAY),
];
const TICKS_MAX = 6;

/** Round lengths of time, at most six. */
export function ticksOf(lengthMs: number): Waterfall["ticks"] {
  const step = STEPS.find((each) => lengthMs / each < TICKS_MAX) ?? lengthMs;
  const count = Math.floor(lengthMs / step);
  return Array.from({ length: count + 1 }, (_, index) => ({
    share: (index * step) / lengthMs,
    text: index === 0 ? "0" : durationText(index * step),
  }));
}
