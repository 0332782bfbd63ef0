/** Toasts, notes, empty states and reasons. */
import type { JSX } from "preact";
import { href } from "../../lib/router.ts";
import { toast } from "../../lib/toasts.ts";
import { Button, Panel } from "../../parts/basics.tsx";
import { Empty, Note } from "../../parts/notices.tsx";
import { State, StateShape, type StateName } from "../../parts/state.tsx";

export function Toasts(): JSX.Element {
  const good = (): void =>
    toast({
      tone: "good",
      title: "7 jobs run again",
      text: "Finished phases were kept.",
      link: { text: "Show", href: href("jobs") },
    });
  const bad = (): void =>
    toast({
      tone: "bad",
      title: "Job …Q4C7XQ was not retried",
      text: "A living successor holds its key.",
    });
  return (
    <Panel
      class="c4"
      title="Toasts"
      foot="Only for what is not visible anyway. A failure stays until it is closed."
    >
      <div class="stack">
        <Sample state="completed" title="7 jobs run again" text="Finished phases were kept." />
        <Sample
          state="failed"
          title="Job …Q4C7XQ was not retried"
          text="A living successor holds its key."
        />
        <div class="row">
          <Button onClick={good}>Show that it worked</Button>
          <Button onClick={bad}>Show that it was refused</Button>
        </div>
      </div>
    </Panel>
  );
}

function Sample(props: { state: StateName; title: string; text: string }): JSX.Element {
  return (
    <div class="toast-sample">
      <StateShape state={props.state} />
      <div>
        <b>{props.title}</b>
        <p class="sub">{props.text}</p>
      </div>
    </div>
  );
}

export function Notes(): JSX.Element {
  return (
    <Panel class="c4" title="Notes">
      <div class="stack">
        <Note tone="bad" title="The store does not answer" actions={<Button>Try now</Button>}>
          <code>STORE_UNREACHABLE</code> after 2 s. Shown is what was read 12 s ago.
        </Note>
        <Note tone="warn" title="Stopped after 2 s">
          The search has read 50,000 of about 1.2 million jobs. Add a type or an age.
        </Note>
        <Note tone="info" title="Read only">
          You look as a viewer. Actions need the role operator.
        </Note>
      </div>
    </Panel>
  );
}

export function Empties(): JSX.Element {
  return (
    <>
      <Panel class="c4" flush title="Empty, first day">
        <Empty
          title="No jobs yet"
          command={`npx millrace enqueue email '{"to":"me@example.test"}' --follow`}
        >
          A job appears here as soon as one is enqueued. Try it from a terminal:
        </Empty>
      </Panel>
      <Panel class="c4" flush title="Empty, filter">
        <Empty title="Nothing matches" actions={<Button>Drop age&lt;24h</Button>}>
          No job of the last 24 hours has error:vatid.
        </Empty>
      </Panel>
      <Panel class="c4" flush title="Empty, all well">
        <Empty title="Nothing needs you" isWell>
          Eleven rules were checked 2 s ago: waits, error rates, breakers, workers, schedules, dead
          letters, clock, store, leases, webhooks, schema.
        </Empty>
      </Panel>
    </>
  );
}

const REASONS: readonly (readonly [StateName, string])[] = [
  ["held", "The breaker of stripe-api is open. Next probe in 38 s."],
  ["held", "Lane bulk is paused by ines since 12:26: “month close”."],
  ["queued", "All 24 slots of lane fast are busy; 3,180 jobs are before it."],
  ["queued", "The concurrency key acme/ledger is held by …R2M8QX, running for 4 min."],
  ["scheduled", "Due at 02:30, in 12 h."],
  ["retrying", "Attempt 3 of 5 starts in 11 s."],
];

export function Reasons(): JSX.Element {
  return (
    <Panel class="c4" flush title="Why is it not running?">
      <ul class="reasons">
        {REASONS.map(([state, text]) => (
          <li key={text}>
            <State state={state} alone />
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
