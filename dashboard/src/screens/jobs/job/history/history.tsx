/** The history of one job: events, and what people did about it, in one list. */
import type { JSX } from "preact";
import { call, type AnswerOf } from "../../../../api/client.ts";
import { momentText } from "../../../../lib/format.ts";
import { zone } from "../../../../lib/prefs.ts";
import { href } from "../../../../lib/router.ts";
import { may } from "../../../../lib/session.ts";
import { useResource, type Resource } from "../../../../live/resource.ts";
import { Tag } from "../../../../parts/basics.tsx";
import { Empty, Failure, Note } from "../../../../parts/notices.tsx";
import { historySteps, type Step } from "./steps.ts";
import { useEvents } from "./use-events.ts";
import "./history.css";

/** More acts about one job stand on the screen Audit. */
const ACTS_MAX = 200;

type Acts = AnswerOf<"listAudit">;

export function History({ id }: { id: string }): JSX.Element {
  const { events, isCut, isRead } = useEvents(id);
  const acts = useActs(id);
  const { entries = [], next = null } = acts.data.value ?? {};
  const steps = historySteps(events, entries);
  const isKnown = isRead && (acts.data.value !== null || acts.error.value !== null);
  return (
    <div class="stack">
      <Failure of={acts} />
      {isCut && <Note tone="info" title="The first events are not in this list" />}
      {next !== null && <Note tone="info" title="The first acts are in the audit alone" />}
      {steps.length === 0 ? <NoSteps isKnown={isKnown} /> : <Steps of={steps} />}
      {entries.length > 0 && (
        <p>
          <a href={href("audit", { subject_kind: "job", subject: id })}>
            The acts with what they changed, in the audit
          </a>
        </p>
      )}
    </div>
  );
}

/** The server decides which acts the person reads. A role without the audit has events alone. */
function useActs(id: string): Resource<Acts> {
  const query = { subject_kind: "job", subject: id, limit: ACTS_MAX } as const;
  return useResource(
    `acts ${id}`,
    async (signal): Promise<Acts> =>
      may("listAudit") ? call("listAudit", { query, signal }) : { entries: [], next: null },
    { on: ["job:"], restMs: 3_000, everyMs: 15_000 },
  );
}

function NoSteps({ isKnown }: { isKnown: boolean }): JSX.Element {
  return (
    <Empty title={isKnown ? "The feed no longer has events of this job" : "No history yet"}>
      Each step of the job and each act of a person about it appears here as it happens. The feed
      keeps events for a while; what became of the job stays in its attempts.
    </Empty>
  );
}

function Steps({ of: steps }: { of: readonly Step[] }): JSX.Element {
  return (
    <ol class="job-log history" tabIndex={0} aria-label="History">
      {steps.map(({ key, at, kind, name, text }) => (
        <li key={key}>
          <time dateTime={new Date(at).toISOString()} title={momentText(at, zone.value)}>
            {momentText(at, zone.value).slice(0, 23)}
          </time>
          <span>
            <Tag tone={kind === "act" ? "accent" : "plain"}>{kind === "act" ? "Act" : "Event"}</Tag>
          </span>
          <span class="event wrap">{name}</span>
          <span class="wrap dim">{text}</span>
        </li>
      ))}
    </ol>
  );
}
