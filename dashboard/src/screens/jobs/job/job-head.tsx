/** The head of a job: title, state, facts and actions. */
import type { JSX } from "preact";
import { numberText } from "../../../lib/format.ts";
import { parseQuery, termText, type Term } from "../../../lib/query.ts";
import { href } from "../../../lib/router.ts";
import { settings } from "../../../lib/session.ts";
import { CopyButton, Cut, Facts, Tag, Time } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { shownState, State } from "../../../parts/state.tsx";
import { attemptNow, titleOf } from "../list/job-text.ts";
import { readNeighbours } from "../neighbours.ts";
import { Actions } from "./actions.tsx";
import type { Details, NeighbourLinks } from "./details.ts";
import { linksOf } from "./links.ts";

const PRIORITIES: Readonly<Record<number, string>> = {
  0: "critical",
  50: "high",
  100: "normal",
  200: "low",
};

export function JobHead(props: {
  details: Details;
  /** Something holds the queued job back. */
  isHeld: boolean;
  neighbours: NeighbourLinks;
  reload: () => void;
}): JSX.Element {
  const { details, isHeld, neighbours, reload } = props;
  const { job } = details;
  const title = titleOf(job.payload);
  return (
    <div class="job-head">
      <div class="job-title">
        <h1>
          {job.type}
          {title !== "" && <span class="title"> {title}</span>}
        </h1>
        <div class="row">
          <Neighbours of={neighbours} />
          <Actions details={details} reload={reload} />
        </div>
      </div>
      <div class="job-facts">
        <State state={isHeld ? "held" : shownState(job)} pill />
        {job.stale && <Tag tone="warn">Removed soon</Tag>}
        <FactsOf details={details} />
      </div>
    </div>
  );
}

function FactsOf({ details: { job, worker } }: { details: Details }): JSX.Element {
  const list = (key: string, value: string): JSX.Element => (
    <a href={href("jobs", { q: `${key}:${JSON.stringify(value)}` })}>{value}</a>
  );
  const links = linksOf(settings.value?.links ?? {}, job);
  return (
    <Facts
      of={[
        ["Id", <IdValue key="id" id={job.id} />],
        ["Type", list("type", job.type)],
        ["Tenant", list("tenant", job.tenant)],
        ["Lane", list("lane", job.lane)],
        job.category !== null && ["Category", list("category", job.category)],
        ["Priority", `${job.priority}${named(job.priority)}`],
        ["Attempts", `${attemptNow(job)} of ${numberText(job.maxAttempts)}`],
        ["Created", <Created key="created" at={job.createdAt} by={job.createdBy} />],
        job.state === "scheduled" &&
          job.runAt !== null && ["Due", <Time key="due" at={job.runAt} />],
        worker !== null && ["Worker", <WorkerValue key="worker" of={worker} />],
        job.cancelReason !== null && ["Cancelled", <Cut key="why" text={job.cancelReason} />],
        job.concurrencyKey !== null && ["Lock", <Cut key="lock" mono text={job.concurrencyKey} />],
        job.idempotencyKey !== null && [
          "Idempotency key",
          <Cut key="idem" mono text={job.idempotencyKey} />,
        ],
        job.dedupKey !== null && ["Dedup key", <Cut key="dedup" mono text={job.dedupKey} />],
        ...Object.entries(job.tags).map(
          ([name, value]) => [name, <TagValue key={name} name={name} value={value} />] as const,
        ),
        ...links.map(
          (link) =>
            [
              link.name,
              <a
                key={link.name}
                class="out"
                href={link.href}
                target="_blank"
                rel="noopener noreferrer"
                title={link.href}
              >
                Open <Icon name="link" small />
                <span class="sr"> in a new tab</span>
              </a>,
            ] as const,
        ),
      ]}
    />
  );
}

/** A name that the query bar cannot write leads to no list. */
function TagValue({ name, value }: { name: string; value: string }): JSX.Element {
  const term: Term = { key: `tag.${name}`, sign: ":", value };
  const text = termText(term);
  const [read, ...more] = parseQuery(text).terms;
  if (read === undefined || more.length > 0 || termText(read) !== text) return <>{value}</>;
  return <a href={href("jobs", { q: text })}>{value}</a>;
}

function named(priority: number): string {
  const name = PRIORITIES[priority];
  return name === undefined ? "" : `, ${name}`;
}

function IdValue({ id }: { id: string }): JSX.Element {
  return (
    <>
      <code>{id}</code>
      <CopyButton text={id} label="Copy id (y)" />
    </>
  );
}

function Created({ at, by }: { at: string; by: string | null }): JSX.Element {
  return (
    <span>
      <Time at={at} />
      {by !== null && ` by ${by}`}
    </span>
  );
}

function WorkerValue({ of }: { of: NonNullable<Details["worker"]> }): JSX.Element {
  return (
    <a href={href("workers")} title={of.id} class={of.isAlive ? "" : "bad"}>
      {of.host} {of.pid}
      {of.isAlive ? "" : ", silent"}
    </a>
  );
}

/** The jobs before and behind this one in the list. */
function Neighbours({ of: { previous, next } }: { of: NeighbourLinks }): JSX.Element | null {
  const { q, ids } = readNeighbours();
  if (ids.length < 2 || (previous === null && next === null)) return null;
  const where = q === "" ? "in all jobs" : `in ${q}`;
  return (
    <div class="job-steps" role="group" aria-label={`Jobs ${where}`}>
      <Step to={previous} icon="up" label={`Previous job ${where} ([)`} />
      <Step to={next} icon="down" label={`Next job ${where} (])`} />
    </div>
  );
}

function Step(props: { to: string | null; icon: "up" | "down"; label: string }): JSX.Element {
  if (props.to === null) {
    return (
      <button type="button" class="btn bare" disabled aria-label={props.label}>
        <Icon name={props.icon} />
      </button>
    );
  }
  return (
    <a class="btn bare" href={props.to} aria-label={props.label} title={props.label}>
      <Icon name={props.icon} />
    </a>
  );
}
