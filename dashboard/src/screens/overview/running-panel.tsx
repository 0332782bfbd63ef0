/** The work at hand: the jobs that run now, the longest run first, with their units. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import { numberText } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { href } from "../../lib/router.ts";
import { useResource } from "../../live/resource.ts";
import { Cut, IdLink, Lasted, Panel } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { State, StateShape } from "../../parts/state.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { titleOf } from "../jobs/list/job-text.ts";
import type { RunSeries } from "./run-series.ts";
import { slowLimit, unitsText, type LongRun } from "./slow-runs.ts";

const FILTER = "state:running";

export function RunningPanel({ series }: { series: RunSeries | null }): JSX.Element {
  const running = useResource("running", (signal) => call("listRunning", { signal }), {
    restMs: 3_000,
    everyMs: 15_000,
  });
  return (
    <Panel
      flush
      title="Running"
      sub="longest first"
      aside={<a href={href("jobs", { q: FILTER })}>All running jobs</a>}
      {...(running.data.value?.cutShort === true ? { foot: <CutShort /> } : {})}
    >
      <Loaded of={running}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title="No job runs now">
              A job appears here while a worker runs it, with its phase and units.
            </Empty>
          ) : (
            <Table
              label="Running jobs, longest first"
              class="running items"
              still
              columns={columnsOf(series)}
              rows={runs}
              keyOf={({ job }) => job.id}
              hrefOf={({ job }) => href(["jobs", job.id])}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function CutShort(): JSX.Element {
  return <span>Too many jobs run to compare all of them: a longer run may be missing.</span>;
}

function columnsOf(series: RunSeries | null): readonly Column<LongRun>[] {
  return [
    { id: "pace", head: "Pace", width: "c-pace", cell: (run) => <Pace of={run} series={series} /> },
    ...COLUMNS,
  ];
}

/** Slow is told by shape and word, as a state is. */
function Pace({ of: { job }, series }: { of: LongRun; series: RunSeries | null }): JSX.Element {
  const { ms, text } = slowLimit(job, series?.types ?? []);
  const isSlow = job.startedAt !== null && now.value - Date.parse(job.startedAt) > ms;
  if (!isSlow) return <State state="running" />;
  return (
    <span class="state st-completed_with_errors" title={`It runs ${text}`}>
      <StateShape state="completed_with_errors" />
      <span>Slow</span>
    </span>
  );
}

const COLUMNS: readonly Column<LongRun>[] = [
  {
    id: "job",
    head: "Job",
    isName: true,
    width: "c-job",
    cell: ({ job }) => {
      const title = titleOf(job.payload);
      return (
        <span class="cut" title={`${job.type} ${title}`}>
          <a href={href(["jobs", job.id])}>{job.type}</a> <span class="dim">{title}</span>
        </span>
      );
    },
  },
  {
    id: "id",
    head: "Id",
    width: "c-id",
    cell: ({ job: { id } }) => <IdLink id={id} href={href(["jobs", id])} />,
  },
  {
    id: "phase",
    head: "Phase",
    width: "c-phase named",
    cell: ({ job: { phase } }) =>
      phase === null ? <span class="dim">no phase</span> : <Cut text={phase} />,
  },
  {
    id: "units",
    head: "Units",
    isNumber: true,
    width: "c-units",
    cell: (run) => (
      <span class="nw" title={`${numberText(run.units.running)} running`}>
        {unitsText(run)}
      </span>
    ),
  },
  {
    id: "time",
    head: "Run time",
    isNumber: true,
    width: "c-time",
    cell: ({ job: { startedAt } }) => <Lasted from={startedAt} />,
  },
];
