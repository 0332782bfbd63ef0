/** Renders a job as lines of a terminal. Pure. */
import { formatDuration } from "../../core/duration.ts";
import type { JobView } from "../../api/client.ts";
import type { PhaseView, ProgressView, UnitCounts } from "../../api/progress.ts";
import { plain } from "../../lib/plain-text.ts";
import { percentOf, shareOfJob, shareOfPhase } from "./completed-share.ts";
import { columnsOf, cutTo, fitTo } from "./columns.ts";
import type { ShownLogLine } from "./log-lines.ts";
import { shownLog } from "./log-lines.ts";
import type { Rate } from "./rate.ts";

export interface JobRendering {
  readonly job: Pick<JobView, "type" | "state" | "runAt" | "startedAt" | "finishedAt">;
  /** The number of the run; 0 before the first. */
  readonly run: number;
  readonly progress: ProgressView;
  readonly rate: Rate;
  /** The last log line. */
  readonly lastLine: ShownLogLine | null;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Style = "bold" | "dim" | "cyan" | "green" | "red" | "yellow";
export type Paint = (style: Style, text: string) => string;

const STATE_STYLE: Readonly<Record<PhaseView["state"], Style>> = {
  pending: "dim",
  running: "cyan",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
};

/** The widths of the longest state and of `100 %`. */
const STATE_COLUMNS = 9;
const PERCENT_COLUMNS = 5;
const BAR_COLUMNS_MAX = 30;
/** A shorter bar is left out. */
const BAR_COLUMNS_MIN = 4;
const GAP = "  ";

/**
 * Lines that fit the terminal, whose last row stays free for the cursor. Only `paint` adds control
 * characters.
 */
export function renderJob(
  rendering: JobRendering,
  size: Size,
  now: number,
  paint: Paint = unpainted,
): string[] {
  // The last column stays empty, because some terminals wrap after it.
  const width = Math.max(1, size.width - 1);
  const bars = barsOf(rendering.progress);
  const columns = columnsFor(bars, width);
  const head = [headLine(rendering, width, now, paint)];
  const foot = [...countLines(rendering, columns), ...logLines(rendering, width, paint)];
  const rows = Math.max(1, size.height - 1 - head.length - foot.length);
  const middle = barLines(bars, rows, columns, paint);
  return [...head, ...middle, ...foot].slice(0, Math.max(1, size.height - 1));
}

function unpainted(_: Style, text: string): string {
  return text;
}

function headLine(rendering: JobRendering, width: number, now: number, paint: Paint): string {
  const status = statusOf(rendering, now);
  const room = Math.max(8, width - columnsOf(status) - GAP.length);
  const type = cutTo(plain(rendering.job.type), Math.min(room, width));
  const rest = width - columnsOf(type) - GAP.length;
  return rest < 1 ? paint("bold", type) : `${paint("bold", type)}${GAP}${cutTo(status, rest)}`;
}

function statusOf({ job, run, progress }: JobRendering, now: number): string {
  const { state, runAt, startedAt, finishedAt } = job;
  const share = `${percentOf(shareOfJob(progress))} %`;
  switch (state) {
    case "scheduled":
      return runAt === null
        ? "scheduled"
        : `scheduled, due in ${formatDuration(Math.max(0, runAt.getTime() - now))}`;
    case "queued":
      return run === 0 ? "queued" : `queued again after run ${run}`;
    case "running":
      return `running${run > 1 ? `, run ${run}` : ""}, ${share}${lengthOf(startedAt, now)}`;
    case "completed":
    case "completed_with_errors":
    case "failed":
    case "cancelled": {
      const words = state.replaceAll("_", " ");
      return `${words}${lengthOf(startedAt, finishedAt?.getTime() ?? now)}`;
    }
  }
}

function lengthOf(from: Date | null, to: number): string {
  return from === null ? "" : `, ${formatDuration(Math.max(0, to - from.getTime()))}`;
}

interface Bar {
  readonly name: string;
  readonly state: PhaseView["state"];
  readonly share: number;
  readonly counts: string;
}

/** One bar per phase. A job without phases has one bar once it has progress or units. */
function barsOf(progress: ProgressView): Bar[] {
  const { phases, at, units, state } = progress;
  if (phases.length === 0) {
    if (at === null && units.total === 0) return [];
    const share = shareOfJob(progress);
    return [{ name: "", state: stateOfWhole(state), share, counts: "" }];
  }
  return phases.map((phase) => ({
    name: plain(phase.name),
    state: phase.state,
    share: shareOfPhase(phase),
    counts: phase.units.total === 0 ? "" : countsOf(phase.units),
  }));
}

function stateOfWhole(state: ProgressView["state"]): PhaseView["state"] {
  switch (state) {
    case "scheduled":
    case "queued":
      return "pending";
    case "completed_with_errors":
      return "completed";
    case "running":
    case "completed":
    case "failed":
    case "cancelled":
      return state;
  }
}

function barLines(all: readonly Bar[], rows: number, columns: Columns, paint: Paint): string[] {
  const { bars, before, after } = inView(all, rows);
  return [
    ...moreLine(before, "before"),
    ...bars.map((bar) => barLine(bar, columns, paint)),
    ...moreLine(after, "after"),
  ];
}

/** The bars that fit into `rows`, around the current phase. */
function inView(
  bars: readonly Bar[],
  rows: number,
): { readonly bars: readonly Bar[]; readonly before: number; readonly after: number } {
  if (bars.length <= rows) return { bars, before: 0, after: 0 };
  const room = Math.max(1, rows - 2);
  const current = bars.findLastIndex(({ state }) => state !== "pending");
  const latest = bars.length - room;
  const from = Math.min(Math.max(0, current - Math.floor(room / 2)), latest);
  return { bars: bars.slice(from, from + room), before: from, after: latest - from };
}

function moreLine(count: number, where: "before" | "after"): string[] {
  return count === 0 ? [] : [`${GAP}… ${count} more ${where}`];
}

/** The widths of the parts of a line; a part with width 0 is left out. */
interface Columns {
  readonly width: number;
  readonly name: number;
  readonly bar: number;
  readonly counts: number;
}

function columnsFor(bars: readonly Bar[], width: number): Columns {
  const longest = widest(bars.map(({ name }) => name));
  const name = Math.min(longest, Math.max(8, Math.floor(width * 0.3)));
  const gaps = GAP.length * (name === 0 ? 2 : 3) + 1;
  const left = width - gaps - name - PERCENT_COLUMNS - STATE_COLUMNS;
  const counts = widest(bars.map((bar) => bar.counts));
  const hasCounts = counts > 0 && left - counts - GAP.length >= BAR_COLUMNS_MIN * 2;
  const room = hasCounts ? left - counts - GAP.length : left;
  const bar = room < BAR_COLUMNS_MIN ? 0 : Math.min(room, BAR_COLUMNS_MAX);
  return { width, name, bar, counts: hasCounts ? counts : 0 };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, columnsOf(text)), 0);
}

function barLine({ name, state, share, counts }: Bar, columns: Columns, paint: Paint): string {
  const style = STATE_STYLE[state];
  const label = columns.name === 0 ? "" : `${fitTo(name, columns.name)}${GAP}`;
  const percent = `${percentOf(share)} %`.padStart(PERCENT_COLUMNS);
  const drawn = columns.bar === 0 ? "" : `${paintedBar(share, columns.bar, style, paint)} `;
  const taken = columnsOf(label) + (columns.bar === 0 ? 0 : columns.bar + 1);
  const rest = columns.width - GAP.length * 2 - taken - PERCENT_COLUMNS;
  if (rest < 1) return cutTo(`${GAP}${label}${percent}`, columns.width);
  const tail = counts === "" || columns.counts === 0 ? "" : `${GAP}${counts}`;
  const word = tail === "" ? cutTo(state, rest) : fitTo(state, STATE_COLUMNS);
  return `${GAP}${label}${drawn}${percent}${GAP}${paint(style, word)}${tail}`;
}

function paintedBar(share: number, columns: number, style: Style, paint: Paint): string {
  const full = Math.floor(share * columns + 1e-9);
  const done = full === 0 ? "" : paint(style, "█".repeat(full));
  return full === columns ? done : `${done}${paint("dim", "░".repeat(columns - full))}`;
}

/** The units (unless the phases show them), the rate and the remaining time, wrapped to lines. */
function countLines({ job, progress, rate }: JobRendering, { width, counts }: Columns): string[] {
  const { units } = progress;
  const isRunning = job.state === "running";
  const parts: string[] = [];
  if (units.total > 0 && counts === 0) parts.push(`units ${countsOf(units)}`);
  if (isRunning && units.total > 0 && rate.unitsPerSecond !== null) {
    parts.push(shownRate(rate.unitsPerSecond));
  }
  if (isRunning && rate.leftMs !== null) {
    parts.push(`${wholeSeconds(rate.leftMs)} left${hasMorePhases(progress) ? " in phase" : ""}`);
  }
  return packed(parts, width);
}

/** The time that later phases take is not known. */
function hasMorePhases({ phases }: ProgressView): boolean {
  return phases.some(({ state }) => state === "pending");
}

function countsOf({ total, completed, failed }: UnitCounts): string {
  return `${completed}/${total} done${failed === 0 ? "" : `, ${failed} failed`}`;
}

function shownRate(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)} units/s`;
  if (perSecond >= 0.1 || perSecond === 0) return `${perSecond.toFixed(1)} units/s`;
  return `${(perSecond * 60).toFixed(1)} units/min`;
}

/** Whole seconds, because tenths of an estimate would flicker. */
function wholeSeconds(ms: number): string {
  return formatDuration(Math.ceil(ms / 1000) * 1000);
}

const BETWEEN = " · ";

function packed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1) ?? ""}${BETWEEN}${part}`;
    if (lines.length > 0 && columnsOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cutTo(`${GAP}${part}`, width));
  }
  return lines;
}

function logLines({ lastLine: line }: JobRendering, width: number, paint: Paint): string[] {
  if (line === null) return [];
  const text = cutTo(`${GAP}${plain(shownLog(line))}`, width);
  if (line.level === "error") return [paint("red", text)];
  return [paint(line.level === "warn" ? "yellow" : "dim", text)];
}
