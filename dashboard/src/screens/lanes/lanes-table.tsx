/** The lanes: slots, what waits and since when. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { ClosedIntake } from "../../api/operations.gen.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import { countText, durationText } from "../../lib/format.ts";
import { termText } from "../../lib/query.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Button, Cut, Panel, Tag } from "../../parts/basics.tsx";
import { Gauge } from "../../parts/gauge.tsx";
import { Empty, Loaded, Snippet } from "../../parts/notices.tsx";
import { Spark } from "../../parts/spark.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { RunSeries } from "../overview/run-series.ts";
import { laneTrends, rateText, type LaneTrend } from "../overview/series.ts";
import { askCloseIntake, openIntakeNow } from "./control.ts";
import { isOverTarget, LaneTags, PauseButton, type Lane } from "./lane-parts.tsx";
import { drainCommand } from "./shell-word.ts";

type Reload = () => Promise<void>;
export type Intakes = Resource<{ readonly intakes: readonly ClosedIntake[] }>;

export function LanesTable(props: {
  intakes: Intakes;
  series: Resource<RunSeries | null>;
}): JSX.Element {
  const { intakes, series } = props;
  const trends = laneTrends(series.data.value?.types ?? []);
  const lanes = useResource("lanes", (signal) => call("listLanes", { signal }), {
    everyMs: 10_000,
  });
  const closed = (intakes.data.value?.intakes ?? []).filter(({ kind }) => kind === "lane");
  const reload: Reload = async () => {
    await Promise.all([lanes.reload(), intakes.reload()]);
  };
  const known = lanes.data.value?.lanes ?? [];
  return (
    <Panel
      flush
      title="Lanes"
      sub="slots that workers keep for jobs of a kind"
      {...(known.length > 0 ? { foot: <DrainLanes lanes={known} /> } : {})}
    >
      <Loaded of={lanes}>
        {({ lanes: rows }) =>
          rows.length === 0 ? (
            <Empty
              title="No lanes yet"
              command={`mill.work({ jobs: [email], lanes: { fast: 4, general: 16 } });`}
            >
              A lane appears when a worker offers slots for it, or when a job waits in it:
            </Empty>
          ) : (
            <Table
              label="Lanes"
              class="items lanes"
              columns={columnsOf(closed, trends, reload)}
              rows={rows}
              keyOf={({ lane }) => lane}
              hrefOf={({ lane }) => href("jobs", { q: laneTerm(lane) })}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** As for a type: in a terminal, because a page may be closed while the command waits. */
function DrainLanes({ lanes }: { lanes: readonly Lane[] }): JSX.Element {
  return (
    <details class="drain">
      <summary>Drain a lane: pause it, and wait until none of its jobs runs any more</summary>
      {lanes.map(({ lane }) => (
        <Snippet key={lane} text={drainCommand("lane", lane)} label={`Copy for lane ${lane}`} />
      ))}
    </details>
  );
}

function laneTerm(lane: string): string {
  return termText({ key: "lane", sign: ":", value: lane });
}

function columnsOf(
  closed: readonly ClosedIntake[],
  trends: ReadonlyMap<string, LaneTrend>,
  reload: Reload,
): readonly Column<Lane>[] {
  return [
    {
      id: "lane",
      head: "Lane",
      isName: true,
      cell: (lane) => (
        <span class="row">
          <a class="strong" href={href("jobs", { q: laneTerm(lane.lane) })} title={lane.lane}>
            {lane.lane}
          </a>
          <LaneTags lane={lane} />
          <IntakeTag intake={closed.find(({ name }) => name === lane.lane)} />
          {lane.fair && <Tag title="Tenants take turns in this lane">Fair</Tag>}
        </span>
      ),
    },
    {
      id: "slots",
      head: "Slots",
      width: "c-gauge",
      cell: (lane) =>
        lane.slots === 0 ? (
          <span class="warn">No worker offers slots</span>
        ) : (
          <Gauge
            label={`Lane ${lane.lane}`}
            slots={lane.slots}
            running={lane.running}
            isSlow={isOverTarget(lane) && lane.pause === null}
            isPaused={lane.pause !== null}
          />
        ),
    },
    ...countColumns(),
    {
      id: "trend",
      head: "Ended/min",
      isSecondary: true,
      width: "c-ended",
      cell: ({ lane }) => <Ended lane={lane} trend={trends.get(lane)} />,
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: (lane) => (
        <LaneActions
          lane={lane}
          isClosed={closed.some(({ name }) => name === lane.lane)}
          reload={reload}
        />
      ),
    },
  ];
}

function countColumns(): readonly Column<Lane>[] {
  return [
    {
      id: "busy",
      head: "Busy",
      isNumber: true,
      cell: ({ lane, running, slots }) => (
        <a href={href("jobs", { q: `${laneTerm(lane)} state:running` })}>
          {running} of {slots}
        </a>
      ),
    },
    {
      id: "waiting",
      head: "Waiting",
      isNumber: true,
      cell: ({ lane, waiting }) => (
        <a href={href("jobs", { q: `${laneTerm(lane)} state:queued` })}>{countText(waiting)}</a>
      ),
    },
    {
      id: "held",
      head: "Held",
      isNumber: true,
      isSecondary: true,
      cell: ({ held }) => countText(held),
    },
    {
      id: "oldest",
      head: "Oldest waits",
      isNumber: true,
      cell: (lane) =>
        lane.oldestAgeMs === null ? (
          <span class="dim">–</span>
        ) : (
          <span class={isOverTarget(lane) ? "warn" : ""}>{durationText(lane.oldestAgeMs)}</span>
        ),
    },
    {
      id: "target",
      head: "Target",
      isNumber: true,
      cell: ({ targetMs }) => (targetMs > 0 ? durationText(targetMs) : "none"),
    },
    {
      id: "workers",
      head: "Workers",
      isNumber: true,
      isSecondary: true,
      cell: ({ workers }) => <a href={href("workers")}>{workers}</a>,
    },
  ];
}

function Ended({ lane, trend }: { lane: string; trend: LaneTrend | undefined }): JSX.Element {
  if (trend === undefined) return <span class="dim">–</span>;
  return (
    <span class="ended">
      {rateText(trend.perMinute)}
      <Spark values={trend.trend} label={`Ended runs of lane ${lane} over time`} />
    </span>
  );
}

export function IntakeTag({ intake }: { intake: ClosedIntake | undefined }): JSX.Element | null {
  if (intake === undefined) return null;
  const by = intake.closedBy === null ? "" : ` by ${intake.closedBy}`;
  return (
    <Tag tone="warn" title={`${intake.reason}. New jobs are refused.`}>
      <Cut text={`Intake closed${by}`} />
    </Tag>
  );
}

function LaneActions(props: { lane: Lane; isClosed: boolean; reload: Reload }): JSX.Element {
  const { lane, isClosed, reload } = props;
  return (
    <div class="row acts">
      {isClosed && may("openIntake") && (
        <Button onClick={() => void openIntakeNow("lane", lane.lane, reload)}>Open intake</Button>
      )}
      {!isClosed && may("closeIntake") && (
        <Button kind="quiet" onClick={() => askCloseIntake("lane", lane.lane, reload)}>
          Close intake…
        </Button>
      )}
      <PauseButton kind="lane" name={lane.lane} isPaused={lane.pause !== null} reload={reload} />
    </div>
  );
}
