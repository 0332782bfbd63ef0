/** The error of a letter, what is known of its job, and the errors of all attempts. */
import type { JSX } from "preact";
import type { DeadLetter } from "../../api/operations.gen.ts";
import { plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { ownFrame } from "../../lib/stack.ts";
import { CopyButton, Facts, IdLink, Moment, Panel, Time } from "../../parts/basics.tsx";
import { Note } from "../../parts/notices.tsx";
import { Stack } from "../../parts/stack.tsx";
import { ClassTag } from "../failures/parts.tsx";
import { errorTitle } from "../failures/status.ts";
import { LetterState } from "./words.tsx";

export function ErrorAndFacts({ letter }: { letter: DeadLetter }): JSX.Element {
  const { error } = letter;
  const frame = ownFrame(error?.stack);
  return (
    <div class="stack">
      <LetterFacts letter={letter} />
      {letter.successorId !== null && (
        <Note tone="info" title="This letter was reprocessed">
          The new job is{" "}
          <IdLink id={letter.successorId} href={href(["jobs", letter.successorId])} />.
        </Note>
      )}
      <div>
        <p class="error-title wrap">{errorTitle(error)}</p>
        {frame !== null && <p class="mono wrap">{frame}</p>}
      </div>
      {error?.stack !== undefined && (
        <details class="fold">
          <summary>Stack</summary>
          <Stack text={error.stack} />
        </details>
      )}
    </div>
  );
}

function LetterFacts({ letter }: { letter: DeadLetter }): JSX.Element {
  const key = (name: string, value: string | null): readonly [string, JSX.Element] | null =>
    value === null ? null : [name, <code>{value}</code>];
  return (
    <Facts
      of={[
        ["Status", <LetterState status={letter.status} />],
        ["Job", <JobId id={letter.jobId} />],
        ["Type", <a href={href("letters", { type: letter.type })}>{letter.type}</a>],
        ["Tenant", <a href={href(["tenants", letter.tenant])}>{letter.tenant}</a>],
        letter.category !== null && [
          "Category",
          <a href={href("letters", { category: letter.category })}>{letter.category}</a>,
        ],
        ["Attempts", letter.attempts],
        ["Failed", <Time at={letter.diedAt} />],
        ["Class", <ClassTag of={letter.error} />],
        ["Cause", <a href={href(["failures", letter.cause])}>{letter.cause}</a>],
        letter.correlationId !== null && [
          "Correlation",
          <a href={href(["correlation", letter.correlationId])}>{letter.correlationId}</a>,
        ],
        letter.error?.service !== undefined && [
          "Service",
          <a href={href(["breakers", letter.error.service])}>{letter.error.service}</a>,
        ],
        key("Idempotency key", letter.idempotencyKey),
        key("Dedup key", letter.dedupKey),
        key("Concurrency key", letter.concurrencyKey),
        letter.originalCreatedAt !== null && [
          "Job created",
          <Moment at={letter.originalCreatedAt} />,
        ],
      ]}
    />
  );
}

function JobId({ id }: { id: string }): JSX.Element {
  return (
    <>
      <IdLink id={id} href={href(["jobs", id])} />
      <CopyButton text={id} label="Copy the id" />
    </>
  );
}

type Failure = DeadLetter["history"][number];

export function Attempts({ letter }: { letter: DeadLetter }): JSX.Element {
  const { history } = letter;
  return (
    <Panel
      title="Attempts"
      sub={plural(history.length, "error")}
      flush
      aside={<a href={href(["jobs", letter.jobId])}>Waterfall</a>}
    >
      {history.length === 0 ? (
        <p class="pad sub">No attempt has left an error.</p>
      ) : (
        <ol class="attempts">
          {history.toReversed().map((failure, index) => (
            <li key={`${failure.number} ${index}`}>
              <Attempt of={failure} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Attempt({ of: { number, outcome, finishedAt, error } }: { of: Failure }): JSX.Element {
  const line = (
    <>
      <b>{number}</b>
      <span class="dim">{outcome.replaceAll("_", " ")}</span>
      <span class="cut" title={errorTitle(error)}>
        {errorTitle(error)}
      </span>
      <span class="dim">
        <Time at={finishedAt} />
      </span>
    </>
  );
  if (error?.stack === undefined) return <div class="attempt">{line}</div>;
  return (
    <details>
      <summary class="attempt">{line}</summary>
      <div class="pad">
        <Stack text={error.stack} />
      </div>
    </details>
  );
}
