/** One job: what it is, why it does not run, what has happened, and what can be done. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiProblem, call } from "../../../api/client.ts";
import { useResource, type Resource } from "../../../live/resource.ts";
import { durationText } from "../../../lib/format.ts";
import { useKeys } from "../../../lib/keys.ts";
import { go, href } from "../../../lib/router.ts";
import { may, settings } from "../../../lib/session.ts";
import { PageHead } from "../../../parts/basics.tsx";
import { Empty, Failure, Skeleton } from "../../../parts/notices.tsx";
import { isFinal } from "../list/job-text.ts";
import { copyId } from "../act.tsx";
import { readNeighbours } from "../neighbours.ts";
import { keysOf } from "./actions.tsx";
import { CopyAs } from "./copy-as-panel.tsx";
import type { Details, NeighbourLinks } from "./details.ts";
import { JobHead } from "./job-head.tsx";
import { hasProgress, ProgressPanel } from "./progress-panel.tsx";
import { Related } from "./related.tsx";
import { Tabs } from "./tabs.tsx";
import { Units } from "./units.tsx";
import { useJobStream } from "./use-job-stream.ts";
import { Waterfall } from "./waterfall.tsx";
import { isHolding, Why } from "./why.tsx";
import "./job.css";

export function JobPage({ id }: { id: string }): JSX.Element {
  const details = useResource(
    `job ${id}`,
    (signal) => call("getJobDetails", { params: { id }, signal }),
    { on: ["job:"], restMs: 2_000, everyMs: 15_000 },
  );
  const data = details.data.value;
  const neighbours = useNeighbours(id);
  useKeys({
    ...neighbours.keys,
    y: () => void copyId(data?.job.id ?? id),
    ...(data === null ? {} : keysOf(data, () => void details.reload())),
  });
  useJobStream(id, data?.job.state === "running", () => void details.reload());
  useEffect(() => {
    if (data !== null) document.title = `${data.job.type} · Millrace`;
  }, [data?.job.type]);
  if (isUnknown(details)) return <Gone id={id} />;
  return (
    <>
      <Failure of={details} />
      {data === null ? (
        <Waiting id={id} hasFailed={details.error.value !== null} />
      ) : (
        <Shown details={data} neighbours={neighbours} reload={() => void details.reload()} />
      )}
    </>
  );
}

function Waiting({ id, hasFailed }: { id: string; hasFailed: boolean }): JSX.Element {
  return (
    <>
      <PageHead title={<span class="mono">{id}</span>} />
      {!hasFailed && <Skeleton lines={8} />}
    </>
  );
}

function Shown(props: {
  details: Details;
  neighbours: NeighbourLinks;
  reload: () => void;
}): JSX.Element {
  const { details, neighbours, reload } = props;
  const { job, progress } = details;
  const explanation = useExplanation(job.id, !isFinal(job) && may("explainJob"));
  const isHeld = job.state === "queued" && explanation !== null && isHolding(explanation);
  return (
    <>
      <JobHead details={details} isHeld={isHeld} neighbours={neighbours} reload={reload} />
      {explanation !== null && job.state !== "running" && (
        <Why explanation={explanation} reload={reload} />
      )}
      <div class="cols top-aligned job-cols">
        <div class="stack c8">
          <Waterfall details={details} isHeld={isHeld} />
          {progress.units.total > 0 && <Units key={job.id} id={job.id} progress={progress} />}
          <Tabs details={details} />
        </div>
        <aside class="stack c4" aria-label="Beside the job">
          {hasProgress(details) && <ProgressPanel details={details} />}
          <Related details={details} />
          <CopyAs job={job} />
        </aside>
      </div>
    </>
  );
}

/** Why the job waits or runs; null for a job that has ended. */
function useExplanation(id: string, isWanted: boolean) {
  const read = useResource(
    `explain ${id} ${isWanted}`,
    async (signal) => (isWanted ? call("explainJob", { params: { id }, signal }) : null),
    { on: ["job:"], restMs: 4_000, everyMs: 10_000 },
  );
  return read.data.value;
}

/** The jobs beside this one in the list that a person came from. */
function useNeighbours(id: string): NeighbourLinks {
  const { ids } = readNeighbours();
  const at = ids.indexOf(id);
  const linkTo = (each: string | undefined): string | null =>
    at === -1 || each === undefined ? null : href(["jobs", each]);
  const previous = at === 0 ? null : linkTo(ids[at - 1]);
  const next = linkTo(ids[at + 1]);
  const open = (link: string | null) => (): void => {
    if (link !== null) go(link);
  };
  return { previous, next, keys: { "[": open(previous), "]": open(next) } };
}

function isUnknown(details: Resource<Details>): boolean {
  const { value } = details.error;
  return value instanceof ApiProblem && (value.status === 404 || value.status === 400);
}

function Gone({ id }: { id: string }): JSX.Element {
  const kept = settings.value?.retention?.finishedMs.completed ?? null;
  return (
    <>
      <PageHead title="No such job" />
      <h2 class="sr">What to do</h2>
      <Empty title="There is no job with this id" command={`npx millrace jobs list --limit 5`}>
        {`${id} is unknown here. `}
        {kept === null
          ? "It may have been removed by retention or by a person."
          : `Finished jobs are kept for ${durationText(kept)}; it may have been removed since.`}
      </Empty>
    </>
  );
}
