/** Time series by uPlot: no boxes, few lines, one cross line through all charts of a screen. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clockText, momentText } from "../lib/format.ts";
import { theme, zone } from "../lib/prefs.ts";

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly tone: "p50" | "p95" | "p99" | "failed" | "in";
  readonly isFilled?: boolean;
}

export interface Mark {
  readonly at: number;
  readonly text: string;
}

export interface ChartProps {
  readonly label: string;
  /** Moments in milliseconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Deploys: a dashed line with a flag. */
  readonly marks?: readonly Mark[];
  /** A horizontal line, such as the target of a lane. */
  readonly target?: { readonly value: number; readonly text: string };
  readonly format: (value: number) => string;
  /** The distances that lines may have, for values that are not decimal, such as minutes. */
  readonly steps?: readonly number[];
  /** A click on a moment, or the ends of a dragged range. */
  readonly onPick?: (from: number, to: number) => void;
}

const HEIGHT = 160;
/** Longer stretches are labelled with days. */
const DAYS_MS = 2 * 86_400_000;
const DASHES: Readonly<Partial<Record<Series["tone"], number[]>>> = {
  p50: [1.5, 2.5],
  p99: [5, 3],
  in: [2, 3],
};

/** The colours of a canvas do not follow the style: it is drawn again when the system turns dark. */
const media = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(media.matches);
media.addEventListener("change", ({ matches }) => (isSystemDark.value = matches));

export function Chart(props: ChartProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const kept = useRef(props);
  kept.current = props;
  const names = props.series.map(({ name }) => name).join();
  const shape = `${names} ${theme.value} ${isSystemDark.value} ${zone.value}`;
  const plot = useRef<UPlot | null>(null);
  useEffect(() => {
    const { current: element } = frame;
    if (element === null) return;
    const drawn = new UPlot(optionsOf(kept, element), dataOf(kept.current), element);
    plot.current = drawn;
    const resized = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.series]);
  return <div ref={frame} class="chart" role="img" aria-label={props.label} />;
}

function dataOf({ times, series }: ChartProps): UPlot.AlignedData {
  return [times.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])];
}

function colour(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(`--chart-${name}`).trim() || "currentColor";
}

function optionsOf(kept: { current: ChartProps }, element: HTMLElement): UPlot.Options {
  const { series } = kept.current;
  const axis = { stroke: colour(element, "ink"), font: "11px sans-serif", ticks: { show: false } };
  const grid = { stroke: colour(element, "line"), width: 1 };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [14, 14, 0, 0],
    cursor: {
      sync: { key: "millrace" },
      drag: { x: kept.current.onPick !== undefined, y: false, setScale: false },
      points: { size: 5 },
    },
    scales: { y: { range: (_, low, high) => [Math.min(0, low), Math.max(high * 1.1, 1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 60,
        values: (plot, moments) => moments.map((each) => timeText(plot, each * 1_000)),
      },
      {
        ...axis,
        grid,
        size: 62,
        space: 26,
        ...(kept.current.steps === undefined ? {} : { incrs: [...kept.current.steps] }),
        values: (_, values) => values.map((each) => kept.current.format(each)),
      },
    ],
    series: [
      {},
      ...series.map(({ name, tone, isFilled }) => ({
        label: name,
        stroke: colour(element, tone),
        width: tone === "p95" ? 1.75 : 1.5,
        points: { show: true, size: 4, filter: lonely },
        ...(DASHES[tone] === undefined ? {} : { dash: DASHES[tone] }),
        ...(isFilled === true ? { fill: colour(element, `${tone}-fill`) } : {}),
      })),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, kept.current, element)],
      setSelect: [(plot) => pick(plot, kept.current)],
      ready: [
        (plot) =>
          plot.over.addEventListener("click", (event) => pickStep(plot, kept.current, event)),
      ],
    },
  };
}

/** A value between gaps has no line, so it gets a point. */
function lonely({ data }: UPlot, index: number): number[] {
  const values = data[index] ?? [];
  const isValue = (at: number): boolean => values[at] !== null && values[at] !== undefined;
  return Array.from(values.keys()).filter(
    (at) => isValue(at) && !isValue(at - 1) && !isValue(at + 1),
  );
}

/** Hours of a day, or the days of a longer stretch. */
function timeText({ scales }: UPlot, at: number): string {
  const { min = 0, max = 0 } = scales["x"] ?? {};
  const isLong = ((max ?? 0) - (min ?? 0)) * 1_000 > DAYS_MS;
  return isLong ? momentText(at, zone.value).slice(5, 10) : clockText(at, zone.value);
}

function pick(plot: UPlot, { onPick }: ChartProps): void {
  const { left, width } = plot.select;
  if (onPick === undefined || width < 4) return;
  onPick(plot.posToVal(left, "x") * 1_000, plot.posToVal(left + width, "x") * 1_000);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** A click has no width: it chooses the step under the pointer. A drag sends no click. */
function pickStep(plot: UPlot, { onPick, times }: ChartProps, { clientX }: MouseEvent): void {
  const at = times[plot.posToIdx(clientX - plot.over.getBoundingClientRect().left)];
  const [first = 0, second = first] = times;
  if (onPick !== undefined && at !== undefined) onPick(at, at + Math.max(second - first, 1));
}

function drawMarks(plot: UPlot, { marks = [], target }: ChartProps, element: Element): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px sans-serif`;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.strokeStyle = colour(element, "ink");
  ctx.fillStyle = colour(element, "ink");
  drawDeploys(plot, marks);
  if (target !== undefined) {
    const y = plot.valToPos(target.value, "y", true);
    ctx.strokeStyle = ctx.fillStyle = colour(element, "target");
    if (y > bbox.top) line(ctx, [bbox.left, y, bbox.left + bbox.width, y]);
  }
  ctx.restore();
}

/** A line with a flag and the version. A text that would lie over another one goes a line down. */
function drawDeploys(plot: UPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot;
  const unit = devicePixelRatio;
  const taken: { readonly from: number; readonly to: number; readonly row: number }[] = [];
  for (const { at, text } of marks.toSorted((one, other) => one.at - other.at)) {
    const x = plot.valToPos(at / 1_000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    line(ctx, [x, bbox.top - 6 * unit, x, bbox.top + bbox.height]);
    const length = ctx.measureText(text).width + 16 * unit;
    const isLate = x + length > bbox.left + bbox.width;
    const [from, to] = isLate ? [x - length, x] : [x, x + length];
    let row = 0;
    while (taken.some((each) => each.row === row && each.from < to && each.to > from)) row += 1;
    taken.push({ from, to, row });
    const y = bbox.top + (row * 12 - 6) * unit;
    ctx.fillRect(isLate ? x - 6 * unit : x, y, 6 * unit, 6 * unit);
    ctx.textAlign = isLate ? "right" : "left";
    ctx.fillText(text, x + (isLate ? -10 : 10) * unit, y + 6 * unit);
  }
}

function line(ctx: CanvasRenderingContext2D, [x1, y1, x2, y2]: number[]): void {
  ctx.beginPath();
  ctx.moveTo(x1 ?? 0, y1 ?? 0);
  ctx.lineTo(x2 ?? 0, y2 ?? 0);
  ctx.stroke();
}
