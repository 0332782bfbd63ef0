/**
 * Reads the series of the charts. One read has the runs of all steps by type and lane, but
 * quantiles cannot be added up: a step of several groups is read as a whole. A step that has ended
 * never changes, so it is read once.
 */
import { call, type AnswerOf } from "../../api/client.ts";
import { may } from "../../lib/session.ts";
import {
  NO_FIGURES,
  startsOf,
  stepsOf,
  typeRows,
  type Figures,
  type Range,
  type Step,
  type TypeRow,
} from "./series.ts";

export interface RunSeries {
  readonly range: Range;
  readonly steps: readonly (Step & { readonly figures: Figures })[];
  readonly total: AnswerOf<"getRunMetrics">["total"];
  readonly types: readonly TypeRow[];
  readonly deploys: readonly { readonly at: number; readonly text: string }[];
  /** Too many rows: the oldest runs are left out. */
  readonly cutShort: boolean;
}

/** Reads that run at the same time: a browser has six connections, and the stream takes one. */
const PARALLEL = 3;
/** A step counts as ended when late transactions of its last minute are in. */
const SETTLED_MS = 60_000;
const KEPT_MAX = 500;
const known = new Map<string, Figures>();

export async function readSeries(range: Range, signal: AbortSignal): Promise<RunSeries> {
  const starts = startsOf(range, Date.now());
  const from = new Date(starts[0] ?? 0).toISOString();
  const step = `${range.stepMs / 60_000}m`;
  const [stepped, whole, deploys] = await Promise.all([
    call("getRunMetrics", { query: { from, step }, signal }),
    call("getRunMetrics", { query: { from }, signal }),
    readDeploys(from, signal),
  ]);
  const steps = await withFigures(stepsOf(starts, stepped.groups), range.stepMs, signal);
  return {
    range,
    steps,
    total: whole.total,
    types: typeRows(whole.groups, stepped.groups, starts),
    deploys,
    cutShort: stepped.cutShort || whole.cutShort,
  };
}

async function readDeploys(from: string, signal: AbortSignal): Promise<RunSeries["deploys"]> {
  if (!may("listDeploys")) return [];
  try {
    const { deploys } = await call("listDeploys", { query: { from }, signal });
    return deploys.map(({ at, appVersion }) => ({ at: Date.parse(at), text: appVersion }));
  } catch {
    // The charts are worth more than their marks.
    return [];
  }
}

async function withFigures(
  steps: readonly Step[],
  stepMs: number,
  signal: AbortSignal,
): Promise<RunSeries["steps"]> {
  const wanted = steps.filter(({ figures }) => figures === null);
  const found = new Map<number, Figures>();
  const work = async (): Promise<void> => {
    for (let step = wanted.pop(); step !== undefined; step = wanted.pop()) {
      found.set(step.at, await figuresOf(step.at, stepMs, signal));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return steps.map((step) => ({
    ...step,
    figures: step.figures ?? found.get(step.at) ?? NO_FIGURES,
  }));
}

async function figuresOf(at: number, stepMs: number, signal: AbortSignal): Promise<Figures> {
  const key = `${at} ${stepMs}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const query = { from: new Date(at).toISOString(), to: new Date(at + stepMs).toISOString() };
  const { total } = await call("getRunMetrics", { query, signal });
  if (at + stepMs + SETTLED_MS < Date.now()) keep(key, total);
  return total;
}

function keep(key: string, { wait, run }: Figures): void {
  known.set(key, { wait, run });
  const [oldest] = known.keys();
  if (known.size > KEPT_MAX && oldest !== undefined) known.delete(oldest);
}
