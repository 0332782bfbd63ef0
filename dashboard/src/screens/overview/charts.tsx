/** Throughput, wait and run time. The table under each chart is its legend. */
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Quantiles } from "../../api/operations.gen.ts";
import { durationText, percentText } from "../../lib/format.ts";
import { go, href } from "../../lib/router.ts";
import { Panel } from "../../parts/basics.tsx";
import { Chart, type Series } from "../../parts/chart.tsx";
import type { RunSeries } from "./run-series.ts";
import {
  createdBetween,
  DURATION_STEPS,
  failedRuns,
  newestOf,
  rateText,
  whenText,
  type Range,
} from "./series.ts";

interface Line extends Series {
  readonly now: ComponentChildren;
  readonly whole: ComponentChildren;
}

interface ChartFrameProps {
  readonly title: string;
  readonly sub: string;
  readonly range: Range;
  readonly series: RunSeries | null;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
}

export function Charts({ range, series }: { range: Range; series: RunSeries | null }): JSX.Element {
  const throughput = useMemo(() => throughputLines(series), [series]);
  const wait = useMemo(() => quantileLines(series, "wait"), [series]);
  const run = useMemo(() => quantileLines(series, "run"), [series]);
  const common = { range, series };
  return (
    <div class="cols">
      <Frame
        title="Throughput"
        sub="ended runs per minute"
        lines={throughput}
        format={rateText}
        {...common}
      />
      <Frame title="Wait" sub="from due to start" lines={wait} format={durationText} {...common} />
      <Frame title="Run" sub="from start to end" lines={run} format={durationText} {...common} />
    </div>
  );
}

function Frame({ title, sub, range, series, lines, format }: ChartFrameProps): JSX.Element {
  const times = useMemo(() => series?.steps.map(({ at }) => at) ?? [], [series]);
  const list = (from: number, to: number): void => {
    go(href("jobs", { q: createdBetween(from, to) }));
  };
  return (
    <Panel
      class="c4"
      title={title}
      sub={sub}
      aside={
        <a class="sub" href={href("jobs", { q: jobsOf(range, series) })}>
          Jobs<span class="sr"> of {range.phrase}</span>
        </a>
      }
    >
      <Chart
        label={`${title}, ${sub}, ${whenText(range)}; the table below has the numbers`}
        times={times}
        series={lines}
        marks={series?.deploys ?? []}
        format={format}
        {...(format === durationText ? { steps: DURATION_STEPS } : {})}
        onPick={list}
      />
      <table class="key">
        <caption class="sr">{title} in numbers</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="sr">Line</span>
            </th>
            <th scope="col" class="num">
              {range.hours === undefined ? "Now" : "At the end"}
            </th>
            <th scope="col" class="num">
              {range.name}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, tone, now, whole }) => (
            <tr key={name}>
              <th scope="row">
                <i class={`swatch ${tone}`} />
                {name}
              </th>
              <td class="num">{now}</td>
              <td class="num">{whole}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** A range that has ended is asked for by its moments. */
function jobsOf(range: Range, series: RunSeries | null): string {
  if (range.hours === undefined) return `age<${range.id}`;
  return series === null || series.to === null ? "" : createdBetween(series.from, series.to);
}

function throughputLines(series: RunSeries | null): readonly Line[] {
  const steps = series?.steps ?? [];
  const newest = newestOf(steps);
  const total = series?.total ?? null;
  const failed = total === null ? 0 : failedRuns(total);
  const rate = (perMinute: number | undefined): string =>
    perMinute === undefined ? "–" : `${rateText(perMinute)}/min`;
  return [
    {
      name: "Ended",
      tone: "p95",
      isFilled: true,
      values: steps.map(({ perMinute }) => perMinute),
      now: rate(newest?.perMinute),
      whole: rate(total === null ? undefined : total.perSecond * 60),
    },
    {
      name: "Failed",
      tone: "failed",
      isFilled: true,
      values: steps.map(({ failedPerMinute }) => failedPerMinute),
      now: rate(newest?.failedPerMinute),
      whole:
        total === null || total.errorRate === null ? (
          "–"
        ) : (
          <a href={href("failures")}>
            {failed} · {percentText(total.errorRate)}
          </a>
        ),
    },
  ];
}

const NAMES = ["p50", "p95", "p99"] as const;

function quantileLines(series: RunSeries | null, of: "wait" | "run"): readonly Line[] {
  const steps = series?.steps ?? [];
  const newest = newestOf(steps);
  const text = (quantiles: Quantiles | undefined, name: (typeof NAMES)[number]): string => {
    const value = quantiles?.[name] ?? null;
    return value === null ? "–" : durationText(value);
  };
  return NAMES.map((name) => ({
    name,
    tone: name,
    values: steps.map(({ figures }) => figures[of][name]),
    now: text(steps.find(({ at }) => at === newest?.at)?.figures[of], name),
    whole: text(series?.total[of], name),
  }));
}
