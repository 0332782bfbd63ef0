/** Attempts and phases on one line of time: waiting and running in two shades. */
import type { JSX } from "preact";
import { clockText, momentText } from "../../../lib/format.ts";
import { now } from "../../../lib/now.ts";
import { zone } from "../../../lib/prefs.ts";
import { Panel } from "../../../parts/basics.tsx";
import { State } from "../../../parts/state.tsx";
import { isFinal } from "../list/job-text.ts";
import type { Details } from "./details.ts";
import { waterfallOf, type Bar, type Row, type Waterfall as Layout } from "./waterfall-layout.ts";

const HEIGHTS: Readonly<Record<Bar["tone"], number>> = {
  wait: 8,
  whole: 14,
  run: 14,
  failed: 14,
  interrupted: 14,
  held: 16,
};
const ROW = 28;

export function Waterfall({ details, isHeld }: { details: Details; isHeld: boolean }): JSX.Element {
  const { job, attempts, progress } = details;
  const layout = waterfallOf({
    job,
    attempts,
    phases: progress.phases,
    isHeld,
    // A job that has ended does not move: it is not drawn again every second.
    now: isFinal(job) ? 0 : now.value,
  });
  const tones = new Set(layout.rows.flatMap(({ bars }) => bars.map(({ tone }) => tone)));
  return (
    <Panel
      title={progress.phases.length > 0 ? "Attempts and phases" : "Attempts"}
      aside={<Legend tones={tones} />}
      flush
    >
      <div class="wf" role="list">
        <div class="wf-row axis" role="presentation">
          <span class="wf-label" title={momentText(layout.from, zone.value)}>
            From {clockText(layout.from, zone.value)}
          </span>
          <Axis ticks={layout.ticks} />
          <span class="wf-text" />
        </div>
        {layout.rows.map((row) => (
          <RowView key={row.key} row={row} layout={layout} />
        ))}
      </div>
    </Panel>
  );
}

function RowView({ row, layout }: { row: Row; layout: Layout }): JSX.Element {
  return (
    <div class={`wf-row ${row.kind}`} role="listitem">
      <span class="wf-label">
        <State state={row.state} alone />
        <span class="cut" title={row.label}>
          {row.label}
        </span>
        {row.note !== "" && <span class="dim cut">{row.note}</span>}
      </span>
      <svg class="wf-track" aria-hidden="true">
        {layout.ticks.map(({ share }) => (
          <line key={share} class="tick" x1={percent(share)} x2={percent(share)} y1="0" y2={ROW} />
        ))}
        {row.bars.map((bar) => (
          <BarView key={`${bar.tone} ${bar.from}`} bar={bar} />
        ))}
        {layout.now !== null && (
          <line class="now" x1={percent(layout.now)} x2={percent(layout.now)} y1="0" y2={ROW} />
        )}
      </svg>
      <span class="wf-text" title={row.text}>
        {row.text}
      </span>
    </div>
  );
}

/** A bar is never too thin to be seen. */
const WIDTH_MIN = 0.003;

function BarView({ bar: { from, to, tone } }: { bar: Bar }): JSX.Element | null {
  if (tone === "wait" && to - from < WIDTH_MIN) return null;
  const height = HEIGHTS[tone];
  const width = Math.max(WIDTH_MIN, to - from);
  return (
    <rect
      class={`bar ${tone}`}
      x={percent(Math.min(from, 1 - width))}
      width={percent(width)}
      y={(ROW - height) / 2}
      height={height}
      rx="2"
    />
  );
}

function Axis({ ticks }: { ticks: Layout["ticks"] }): JSX.Element {
  return (
    <svg class="wf-track" aria-hidden="true">
      {ticks.map(({ share, text }, index) => (
        <text
          key={share}
          class={index % 2 === 1 ? "alt" : ""}
          x={percent(share)}
          y="18"
          dx={index === 0 ? 3 : 0}
          text-anchor={index === 0 ? "start" : share > 0.95 ? "end" : "middle"}
        >
          {text}
        </text>
      ))}
    </svg>
  );
}

const LEGEND: readonly (readonly [Bar["tone"], string])[] = [
  ["wait", "waiting"],
  ["run", "running"],
  ["failed", "failed"],
  ["interrupted", "interrupted"],
  ["held", "held"],
];

function Legend({ tones }: { tones: ReadonlySet<Bar["tone"]> }): JSX.Element {
  return (
    <div class="wf-legend" aria-hidden="true">
      {LEGEND.filter(([tone]) => tones.has(tone) || tone === "wait" || tone === "run").map(
        ([tone, word]) => (
          <span key={tone}>
            <i class={tone} />
            {word}
          </span>
        ),
      )}
    </div>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
