/** Errors: the class, the message, and the stack with one's own frames marked. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Attempt, Fault, Unit } from "../../../api/operations.gen.ts";
import { plural } from "../../../lib/format.ts";
import { href } from "../../../lib/router.ts";
import { may } from "../../../lib/session.ts";
import { CopyButton, Moment, Tag, type TagTone } from "../../../parts/basics.tsx";
import { Empty, Snippet } from "../../../parts/notices.tsx";
import { framesOf, type FrameGroup } from "./stack.ts";
import type { Details } from "./details.ts";

type Known = NonNullable<Fault>;

const TONES: Readonly<Record<Known["class"], TagTone>> = {
  transient: "back",
  retryable: "back",
  non_retryable: "bad",
  rate_limited: "warn",
};

/** Every attempt that failed, the last first. */
export function Errors({ details }: { details: Details }): JSX.Element {
  const { job, attempts, failedUnits } = details;
  const failed = attempts.filter(({ error }) => error !== null).toReversed();
  if (failed.length === 0 && job.error === null && failedUnits.length === 0) {
    return (
      <Empty isWell title="No attempt has failed">
        The error of every failed attempt appears here, with its stack.
      </Empty>
    );
  }
  const isOnJobAlone = failed.length === 0 && failedUnits.length === 0;
  if (isOnJobAlone) return <ErrorView error={job.error} />;
  return (
    <div class="stack">
      {withoutRepeats(failed).map(([attempt, ...same]) => (
        <section key={attempt.number}>
          <ErrorView error={attempt.error} about={<About attempt={attempt} />} />
          {same.length > 0 && (
            <p class="dim fault-same">
              The same in {same.length === 1 ? "attempt" : "attempts"}{" "}
              {same.map(({ number }) => number).join(", ")}.
            </p>
          )}
        </section>
      ))}
      {failedUnits.map((unit) => (
        <section key={`${unit.phase} ${unit.key}`}>
          <ErrorView error={unit.error} about={<AboutUnit unit={unit} />} />
        </section>
      ))}
    </div>
  );
}

type Group = readonly [Attempt, ...Attempt[]];

/** Attempts that failed alike one after the other are shown once. */
function withoutRepeats(attempts: readonly Attempt[]): readonly Group[] {
  const groups: Group[] = [];
  for (const attempt of attempts) {
    const last = groups.at(-1);
    if (last !== undefined && textOf(last[0]) === textOf(attempt)) {
      groups[groups.length - 1] = [...last, attempt];
    } else groups.push([attempt]);
  }
  return groups;
}

function textOf({ error, outcome }: Attempt): string {
  return JSON.stringify([outcome, error?.class, error?.name, error?.message, error?.stack]);
}

function AboutUnit({ unit: { key, phase, at } }: { unit: Unit }): JSX.Element {
  return (
    <span class="dim wrap">
      Unit <code>{key}</code>
      {phase === null ? "" : ` of ${phase}`}, <Moment at={at} />
    </span>
  );
}

function About({ attempt: { number, finishedAt, outcome } }: { attempt: Attempt }): JSX.Element {
  return (
    <span class="dim">
      Attempt {number}, {outcome.replaceAll("_", " ")}, <Moment at={finishedAt} />
    </span>
  );
}

export function ErrorView({
  error,
  about,
}: {
  error: Fault;
  about?: JSX.Element;
}): JSX.Element | null {
  if (error === null) return null;
  const { name, message, stack, service, cause } = error;
  const groups = stack === undefined ? [] : framesOf(stack);
  return (
    <div class="fault">
      <div class="row">
        <Tag tone={TONES[error.class]}>{error.class.replace("_", " ")}</Tag>
        {about}
        {service !== undefined && (
          <a class="dim" href={href(["breakers", service])}>
            service {service}
          </a>
        )}
        {cause !== undefined && may("getFailure") && (
          <a class="push" href={href(["failures", cause])}>
            Same cause
          </a>
        )}
        <CopyButton text={stack ?? `${name}: ${message}`} label="Copy error" />
      </div>
      <p class="fault-title">{name === "" ? message : `${name}: ${message}`}</p>
      {groups.length > 0 && (
        <ol class="frames">
          {groups.map((group) => (
            <FrameView key={group.number} group={group} />
          ))}
        </ol>
      )}
      {groups.length === 0 && stack !== undefined && <Snippet text={stack} label="Copy stack" />}
    </div>
  );
}

function FrameView({ group }: { group: FrameGroup }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  if (group.kind === "own") {
    return (
      <li class="own">
        <span class="n">{group.number}</span>
        <span class="wrap">{group.frame.name}</span>
        <span class="at">{group.frame.at}</span>
      </li>
    );
  }
  if (!isOpen) {
    return (
      <li class="fold">
        <span class="n" />
        <button type="button" onClick={() => setOpen(true)}>
          Show {plural(group.frames.length, "frame")} of libraries and Node
        </button>
      </li>
    );
  }
  return (
    <>
      {group.frames.map((frame, index) => (
        <li key={index}>
          <span class="n">{group.number + index}</span>
          <span class="wrap">{frame.name}</span>
          <span class="at">{frame.at}</span>
        </li>
      ))}
    </>
  );
}
