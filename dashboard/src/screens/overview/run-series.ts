/** Reads the series of the charts: one read by step, one of the whole range by type and lane. */
import { call, type AnswerOf } from "../../api/client.ts";
import { zone } from "../../lib/prefs.ts";
import { may } from "../../lib/session.ts";
import { stepsOf, stretchOf, typeRows, type Range, type Step, type TypeRow } from "./series.ts";

export interface RunSeries {
  readonly range: Range;
  readonly from: number;
  /** Null: now. */
  readonly to: number | null;
  readonly steps: readonly Step[];
  readonly total: AnswerOf<"getRunMetrics">["total"];
  readonly types: readonly TypeRow[];
  readonly deploys: readonly { readonly at: number; readonly text: string }[];
  /** Too many rows: the oldest runs are left out. */
  readonly cutShort: boolean;
}

export async function readSeries(range: Range, signal: AbortSignal): Promise<RunSeries> {
  const { starts, to } = stretchOf(range, Date.now(), zone.value);
  const [begin = 0] = starts;
  const from = new Date(begin).toISOString();
  const query = to === null ? { from } : { from, to: new Date(to).toISOString() };
  const step = `${range.stepMs / 60_000}m`;
  const [stepped, whole, deploys] = await Promise.all([
    call("getRunMetrics", { query: { ...query, step }, signal }),
    call("getRunMetrics", { query, signal }),
    readDeploys(query, signal),
  ]);
  return {
    range,
    from: begin,
    to,
    steps: stepsOf(starts, stepped.steps),
    total: whole.total,
    types: typeRows(whole.groups, stepped.groups, starts),
    deploys,
    cutShort: stepped.cutShort || whole.cutShort,
  };
}

async function readDeploys(
  query: { readonly from: string; readonly to?: string },
  signal: AbortSignal,
): Promise<RunSeries["deploys"]> {
  if (!may("listDeploys")) return [];
  try {
    const { deploys } = await call("listDeploys", { query, signal });
    return deploys.map(({ at, appVersion }) => ({ at: Date.parse(at), text: appVersion }));
  } catch {
    // The charts are worth more than their marks.
    return [];
  }
}
