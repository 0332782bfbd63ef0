/** Each lane with its slots, what waits and for how long. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import { countText, durationText } from "../../lib/format.ts";
import { termText } from "../../lib/query.ts";
import { href } from "../../lib/router.ts";
import { Panel } from "../../parts/basics.tsx";
import { Gauge } from "../../parts/gauge.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Spark } from "../../parts/spark.tsx";
import { laneTrends, rateText, type LaneTrend } from "./series.ts";
import type { RunSeries } from "./run-series.ts";
import { isOverTarget, LaneTags, PauseButton, type Lane } from "../lanes/lane-parts.tsx";

type Lanes = { readonly lanes: readonly Lane[] };

/** More lanes stand on their own screen. */
const SHOWN_MAX = 6;

export function LanesPanel({ series }: { series: RunSeries | null }): JSX.Element {
  const trends = laneTrends(series?.types ?? []);
  const lanes = useResource("lanes", (signal) => call("listLanes", { signal }), {
    restMs: 2_000,
    everyMs: 10_000,
  });
  const all = lanes.data.value?.lanes ?? [];
  const sum = (of: (lane: Lane) => number): number =>
    all.reduce((total, lane) => total + of(lane), 0);
  const more = all.length - SHOWN_MAX;
  return (
    <Panel
      class="c4"
      flush
      title="Lanes"
      aside={
        all.length > 0 && (
          <span class="sub">
            {sum(({ running }) => running)} of {sum(({ slots }) => slots)} slots busy
          </span>
        )
      }
      {...(more > 0
        ? {
            foot: <a href={href("lanes")}>{more} more lanes</a>,
          }
        : {})}
    >
      <Loaded of={lanes}>
        {({ lanes: shown }) =>
          shown.length === 0 ? (
            <Empty title="No lanes yet">
              A lane appears when a worker offers slots for it, or when a job waits in it.
            </Empty>
          ) : (
            <div class="lane-list">
              {shown.slice(0, SHOWN_MAX).map((lane) => (
                <LaneItem
                  key={lane.lane}
                  lane={lane}
                  of={lanes}
                  trend={trends.get(lane.lane) ?? null}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function LaneItem(props: {
  lane: Lane;
  of: Resource<Lanes>;
  trend: LaneTrend | null;
}): JSX.Element {
  const { lane, of, trend } = props;
  const { lane: name, slots, running, waiting, oldestAgeMs, targetMs, pause } = lane;
  const isLate = isOverTarget(lane);
  const term = termText({ key: "lane", sign: ":", value: name });
  return (
    <div class="lane">
      <div class="lane-head">
        <a class="cut" href={href("jobs", { q: term })} title={name}>
          {name}
        </a>
        <LaneTags lane={lane} />
        <span class="push nw">
          {trend !== null && <span class="dim">{rateText(trend.perMinute)}/min </span>}
          {running} of {slots}
        </span>
        <PauseButton kind="lane" name={name} isPaused={pause !== null} reload={() => of.reload()} />
      </div>
      {slots > 0 && (
        <Gauge
          label={`Lane ${name}`}
          slots={slots}
          running={running}
          isSlow={isLate && pause === null}
          isPaused={pause !== null}
        />
      )}
      <div class="lane-facts">
        <a href={href("jobs", { q: `${term} state:queued` })}>
          <b>{countText(waiting)}</b> waiting
        </a>
        {oldestAgeMs !== null && (
          <span>
            oldest <b class={isLate ? "warn" : ""}>{durationText(oldestAgeMs)}</b>
          </span>
        )}
        <span>{targetMs > 0 ? `target ${durationText(targetMs)}` : "no target"}</span>
        {slots === 0 && <span class="warn">no worker offers slots</span>}
      </div>
      {trend !== null && (
        <Spark values={trend.trend} label={`Ended runs of lane ${name} over time`} />
      )}
    </div>
  );
}
