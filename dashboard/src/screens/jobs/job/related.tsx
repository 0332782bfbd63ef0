/** The jobs that belong to this one. */
import type { JSX } from "preact";
import { call } from "../../../api/client.ts";
import type { Job } from "../../../api/operations.gen.ts";
import { useResource } from "../../../live/resource.ts";
import { countText, durationText, shortId } from "../../../lib/format.ts";
import { now } from "../../../lib/now.ts";
import { href } from "../../../lib/router.ts";
import { Panel } from "../../../parts/basics.tsx";
import { shownState, State } from "../../../parts/state.tsx";
import { runMs, titleOf } from "../list/job-text.ts";
import type { Details } from "./details.ts";

const CHILDREN_MAX = 10;
const LINKS_MAX = 10;

export function Related({ details }: { details: Details }): JSX.Element {
  const { job, waitsFor, awaitedBy, children } = details;
  const read = useResource(`related ${job.id}`, (signal) => readRelated(details, signal), {
    on: ["job:"],
    restMs: 5_000,
  });
  const { parent = null, origin = null, kids = [] } = read.data.value ?? {};
  return (
    <Panel
      title="Related"
      aside={<a href={href("correlation", { id: job.correlationId })}>Timeline</a>}
      foot={
        <span class="cut" title={job.correlationId}>
          Correlation{" "}
          <a
            class="mono"
            href={href("jobs", { q: `correlation:${JSON.stringify(job.correlationId)}` })}
          >
            {job.correlationId}
          </a>
        </span>
      }
    >
      <div class="related">
        {origin !== null && <Line job={origin} about="repeats" />}
        <Tree parent={parent} job={job} kids={kids} />
        {children.count > kids.length && kids.length > 0 && (
          <a href={href("jobs", { q: `parent:${job.id}` })}>All {countText(children)} children</a>
        )}
        <Ids title="Waits for" of={waitsFor} />
        <Ids title="Awaited by" of={awaitedBy} />
      </div>
    </Panel>
  );
}

async function readRelated({ job, children }: Details, signal: AbortSignal) {
  const one = async (id: string | null): Promise<Job | null> => {
    if (id === null) return null;
    // Retention may have removed it.
    return call("getJob", { params: { id }, signal }).catch(() => null);
  };
  const [parent, origin, page] = await Promise.all([
    one(job.parentId),
    one(job.retryOf),
    children.count === 0
      ? { jobs: [] }
      : call("listJobs", { query: { parent_id: job.id, limit: CHILDREN_MAX }, signal }),
  ]);
  return { parent, origin, kids: page.jobs };
}

function Tree(props: { parent: Job | null; job: Job; kids: readonly Job[] }): JSX.Element {
  const here = (
    <>
      <Line job={props.job} isHere />
      {props.kids.length > 0 && (
        <ul>
          {props.kids.map((kid) => (
            <li key={kid.id}>
              <Line job={kid} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
  return (
    <ul class="tree">
      <li>
        {props.parent === null ? (
          here
        ) : (
          <>
            <Line job={props.parent} />
            <ul>
              <li>{here}</li>
            </ul>
          </>
        )}
      </li>
    </ul>
  );
}

function Line(props: { job: Job; isHere?: boolean; about?: string }): JSX.Element {
  const { job, isHere = false, about } = props;
  const ran = runMs(job, now.value);
  return (
    <a
      class="job-line"
      href={href(["jobs", job.id])}
      {...(isHere ? { "aria-current": "page" } : {})}
    >
      <State state={shownState(job)} alone />
      <span class="cut" title={`${job.type} ${titleOf(job.payload)}`}>
        {about !== undefined && <span class="dim">{about} </span>}
        {job.type} <span class="dim">{isHere ? "this job" : titleOf(job.payload)}</span>
      </span>
      <span class="dim">{ran === null ? "" : durationText(ran)}</span>
    </a>
  );
}

function Ids(props: {
  title: string;
  of: { readonly ids: readonly string[]; readonly more: boolean };
}) {
  const { ids, more } = props.of;
  if (ids.length === 0) return null;
  return (
    <p class="row">
      <span class="dim">{props.title}</span>
      {ids.slice(0, LINKS_MAX).map((id) => (
        <a key={id} class="mono" href={href(["jobs", id])} title={id}>
          {shortId(id)}
        </a>
      ))}
      {(more || ids.length > LINKS_MAX) && <span class="dim">and more</span>}
    </p>
  );
}
