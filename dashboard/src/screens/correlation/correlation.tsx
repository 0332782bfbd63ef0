/** Correlation: all jobs of one user action, as a tree and on one line of time. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Job } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { clockText, durationText, numberText, plural } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { zone } from "../../lib/prefs.ts";
import { go, href } from "../../lib/router.ts";
import { Button, ButtonLink, CopyButton, PageHead, Panel, Time } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { shownState, State, stateWord, type StateName } from "../../parts/state.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { errorLine, runMs, titleOf } from "../jobs/list/job-text.ts";
import { barsOf, spanOf, treeOf, type JobBar, type Span, type TreeRow } from "./tree.ts";
import "./correlation.css";

const PAGE = 200;
const PAGES_MAX = 5;

export function Correlation({ query }: ScreenProps): JSX.Element {
  const { id = "" } = query;
  return (
    <>
      <PageHead title="Correlation">
        {id !== "" && (
          <ButtonLink href={href("jobs", { q: `correlation:${JSON.stringify(id)}` })} icon="jobs">
            Show as a list
          </ButtonLink>
        )}
      </PageHead>
      <IdField key={id} id={id} />
      {id === "" ? <Teach /> : <Action key={id} id={id} />}
    </>
  );
}

function IdField({ id }: { id: string }): JSX.Element {
  const [text, setText] = useState(id);
  return (
    <form
      class="correlation-field"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(href("correlation", { id: text.trim() }));
      }}
    >
      <input
        class="field mono"
        data-query
        aria-label="Correlation id"
        placeholder="Correlation id, or the id of the first job"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {id !== "" && <CopyButton text={id} label="Copy the correlation id" />}
      <Button type="submit" kind={id === "" ? "primary" : "plain"}>
        Show
      </Button>
    </form>
  );
}

const COMMAND = `await mill.enqueue(invoice, { order: 41873 }, { correlationId: "order-41873" });`;

function Teach(): JSX.Element {
  return (
    <Panel flush>
      <h2 class="sr">About this page</h2>
      <Empty title="What happened to one user action?" command={COMMAND}>
        Jobs that belong together share a correlation id: your own, if you give one, and else that
        of the first job. Children and repetitions keep it. Enter one above, or open a job and
        follow “Timeline”.
      </Empty>
    </Panel>
  );
}

function Action({ id }: { id: string }): JSX.Element {
  const jobs = useResource(`correlation ${id}`, (signal) => readAll(id, signal), {
    on: ["job:"],
    restMs: 3_000,
  });
  return (
    <Loaded of={jobs} lines={6}>
      {({ jobs: found, isCut }) =>
        found.length === 0 ? (
          <Panel flush>
            <h2 class="sr">Jobs</h2>
            <Empty
              title="No job has this correlation id"
              command="npx millrace jobs list --limit 5 --output json"
            >
              Its jobs may have been removed by retention, or the id has a typing error. The JSON of
              a job names its correlationId.
            </Empty>
          </Panel>
        ) : (
          <Timeline jobs={found} isCut={isCut} />
        )
      }
    </Loaded>
  );
}

async function readAll(id: string, signal: AbortSignal) {
  const jobs: Job[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const place = after === undefined ? {} : { after };
    const query = { correlation_id: id, limit: PAGE, ...place };
    const answer = await call("listJobs", { query, signal });
    jobs.push(...answer.jobs);
    if (answer.next === null) return { jobs, isCut: false };
    after = answer.next;
  }
  return { jobs, isCut: true };
}

function Timeline({ jobs, isCut }: { jobs: readonly Job[]; isCut: boolean }): JSX.Element {
  const span = spanOf(jobs, now.value);
  return (
    <Panel
      title={plural(jobs.length, "job")}
      sub={`${durationText(span.to - span.from)}, from ${clockText(span.from, zone.value)}`}
      aside={<States jobs={jobs} />}
      flush
      {...(isCut ? { foot: `Only the newest ${numberText(jobs.length)} jobs are shown.` } : {})}
    >
      <Table
        label="Jobs of this action"
        class="correlation"
        columns={columnsOf(span)}
        rows={treeOf(jobs)}
        keyOf={({ job }) => job.id}
        hrefOf={({ job }) => href(["jobs", job.id])}
      />
    </Panel>
  );
}

function States({ jobs }: { jobs: readonly Job[] }): JSX.Element {
  const counts = new Map<StateName, number>();
  for (const job of jobs) {
    const state = shownState(job);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return (
    <>
      {[...counts].map(([state, count]) => (
        <span key={state} class="row sub">
          <State state={state} alone /> {numberText(count)} {stateWord(state).toLowerCase()}
        </span>
      ))}
    </>
  );
}

function columnsOf(span: Span): readonly Column<TreeRow>[] {
  return [
    {
      id: "job",
      head: "Job",
      isName: true,
      width: "w-job",
      cell: ({ job, depth }) => (
        <span class="branch" style={{ paddingLeft: `${Math.min(depth, 12) * 1.25}rem` }}>
          {depth > 0 && <span class="elbow" aria-hidden="true" />}
          <State state={shownState(job)} alone />
          <span class="cut" title={`${job.type} ${titleOf(job.payload)}`}>
            <a class="type" href={href(["jobs", job.id])}>
              {job.type}
            </a>
            <span class="title">{titleOf(job.payload)}</span>
          </span>
        </span>
      ),
    },
    {
      id: "time",
      head: "Waiting and running",
      cell: ({ job }) => <Bars job={job} span={span} />,
    },
    {
      id: "ran",
      head: "Ran",
      isNumber: true,
      width: "w-length",
      cell: ({ job }) => {
        const ms = runMs(job, now.value);
        return ms === null ? <span class="dim">–</span> : durationText(ms);
      },
    },
    {
      id: "error",
      head: "Last error",
      isSecondary: true,
      width: "w-error",
      cell: ({ job }) => (
        <span class="cut" title={errorLine(job.error)}>
          {errorLine(job.error)}
        </span>
      ),
    },
    {
      id: "age",
      head: "Age",
      isNumber: true,
      width: "w-age",
      cell: ({ job }) => <Time at={job.createdAt} />,
    },
  ];
}

function Bars({ job, span }: { job: Job; span: Span }): JSX.Element {
  const bars = barsOf(job, span, now.value);
  const words = bars.map(
    ({ tone, from, to }) => `${tone} ${durationText((to - from) * (span.to - span.from))}`,
  );
  return (
    <svg class="span" role="img" aria-label={words.join(", ")}>
      {bars.map((bar) => (
        <BarView key={bar.tone} bar={bar} />
      ))}
    </svg>
  );
}

const WIDTH_MIN = 0.004;

function BarView({ bar: { from, to, tone } }: { bar: JobBar }): JSX.Element | null {
  if (tone === "wait" && to - from < WIDTH_MIN) return null;
  const width = Math.max(WIDTH_MIN, to - from);
  const isWait = tone === "wait";
  return (
    <rect
      class={tone}
      x={`${(Math.min(from, 1 - width) * 100).toFixed(3)}%`}
      width={`${(width * 100).toFixed(3)}%`}
      y={isWait ? 6 : 3}
      height={isWait ? 8 : 14}
      rx="2"
    />
  );
}
