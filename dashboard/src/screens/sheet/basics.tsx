/** States, buttons, marks, inputs, gauges and colours. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button, ButtonLink, Choice, CopyButton, Meter, Panel, Tag } from "../../parts/basics.tsx";
import { Field } from "../../parts/dialog.tsx";
import { Gauge } from "../../parts/gauge.tsx";
import { Icon } from "../../parts/icon.tsx";
import { State, type StateName } from "../../parts/state.tsx";
import { BreakerPill } from "../breakers/breaker-state.tsx";
import { href } from "../../lib/router.ts";

const STATES: readonly (readonly [StateName, string, string])[] = [
  ["queued", "ring", "due, waits for a slot"],
  ["held", "ring with two bars", "queued, but a gate holds it: the reason is always shown"],
  ["scheduled", "dashed clock", "due later"],
  ["running", "triangle", "in the hands of a worker"],
  ["retrying", "turning arrow", "waits for its next attempt (a bucket, not a stored state)"],
  ["completed", "disc with tick", "all of it is done"],
  ["completed_with_errors", "warning triangle", "done, some units failed"],
  ["failed", "octagon with cross", "a dead letter waits for a person"],
  ["cancelled", "struck ring", "called off"],
];

export function States(): JSX.Element {
  return (
    <Panel class="c6" flush title="States" sub="shape, word and colour">
      <div class="scroll" role="region" aria-label="States" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">In a table</th>
              <th scope="col">In a header</th>
              <th scope="col">Alone</th>
              <th scope="col">Shape</th>
              <th scope="col">Means</th>
            </tr>
          </thead>
          <tbody>
            {STATES.map(([state, shape, meaning]) => (
              <tr key={state}>
                <td>
                  <State state={state} short />
                </td>
                <td>
                  <State state={state} pill />
                </td>
                <td>
                  <State state={state} alone />
                </td>
                <td>{shape}</td>
                <td class="dim">{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

export function Buttons(): JSX.Element {
  const [value, setValue] = useState<"cli" | "curl" | "ts">("cli");
  return (
    <Panel
      title="Buttons"
      foot="One primary per screen. A danger button is filled only inside its dialog. A viewer sees no button that would be refused."
    >
      <div class="row">
        <Button kind="primary" icon="retry">
          Retry 7 jobs
        </Button>
        <Button>Acknowledge</Button>
        <Button icon="copy" keycap="y">
          Copy id
        </Button>
        <Button kind="quiet">Undo changes</Button>
        <Button kind="quiet" icon="more" label="More" />
        <Button kind="danger">Discard…</Button>
        <Button kind="danger-fill" icon="trash">
          Discard 412 letters
        </Button>
        <Button disabled>Older</Button>
        <ButtonLink href={href("jobs")} icon="link">
          Show jobs
        </ButtonLink>
        <CopyButton text="01K9ZQ4H7M3R5T8V2X4Z6B8D0F" label="Copy id" />
        <Choice
          label="Copy as"
          value={value}
          options={[
            ["cli", "CLI"],
            ["curl", "curl"],
            ["ts", "TypeScript"],
          ]}
          onChange={setValue}
        />
      </div>
    </Panel>
  );
}

export function Marks(): JSX.Element {
  return (
    <Panel title="Tags and marks">
      <div class="stack">
        <div class="row">
          <Tag>v4.18.2</Tag>
          <Tag tone="bad">New</Tag>
          <Tag tone="back">
            <Icon name="failures" small />
            Over target
          </Tag>
          <Tag tone="good">
            <Icon name="check" small />
            Fits the schema
          </Tag>
          <Tag tone="accent">2 changes</Tag>
          <Tag tone="warn">Intake closed</Tag>
          <Tag>
            <Icon name="pause" small />
            Paused by ines, 2 h
          </Tag>
        </div>
        <div class="row">
          <BreakerPill state="closed" />
          <BreakerPill state="half_open" />
          <BreakerPill state="open" />
          <kbd>⌘</kbd>
          <kbd>K</kbd>
        </div>
      </div>
    </Panel>
  );
}

export function Inputs(): JSX.Element {
  return (
    <Panel class="c4" title="Inputs">
      <div class="stack">
        <Field label="Reason" hint="Shown in the audit trail">
          <input class="field" placeholder="Why it is done" />
        </Field>
        <Field label="Slots of lane fast" problem="A whole number from 1 to 1,000.">
          <input class="field" value="-4" aria-invalid="true" />
        </Field>
        <Field label="Missed runs">
          <select class="field">
            <option>Skip them</option>
            <option>Run one for all</option>
          </select>
        </Field>
        <Field label="Payload" hint="JSON">
          <textarea class="field mono" spellcheck={false} value={'{ "to": "ada@example.com" }'} />
        </Field>
        <label class="row">
          <input type="checkbox" class="box" checked /> Keep finished phases and units
        </label>
        <label class="row">
          <input type="checkbox" class="box" disabled /> Reset the attempt count
        </label>
      </div>
    </Panel>
  );
}

export function Gauges(): JSX.Element {
  return (
    <Panel class="c6" title="Gauges and meters">
      <div class="stack">
        <Gauge label="Lane fast, busy and slow" slots={24} running={24} isSlow />
        <Gauge label="Lane general" slots={8} running={6} />
        <Gauge label="Lane bulk" slots={12} running={0} isPaused />
        <Gauge label="Lane wide, above 48 slots a bar" slots={120} running={48} />
        <Meter
          label="62 % done, 8 % failed, 12 % running"
          parts={[
            { share: 0.62, tone: "good" },
            { share: 0.08, tone: "bad" },
            { share: 0.12, tone: "run" },
          ]}
        />
      </div>
    </Panel>
  );
}

const COLOURS = [
  ["bg", "panel", "sunken", "hover", "selected", "line", "line-strong", "line-control"],
  ["ink", "ink-2", "ink-3", "accent", "accent-fill", "accent-tint", "p50", "p95", "p99"],
  ["queued-fill", "running-fill", "scheduled-fill", "retrying-fill", "completed-fill"],
  ["errors-fill", "failed-fill", "cancelled-fill", "danger-fill", "wait", "run"],
];

export function Colours(): JSX.Element {
  return (
    <Panel class="c12" title="Colours" sub="from tokens.css, and from nowhere else">
      <ul class="colours">
        {COLOURS.flat().map((name) => (
          <li key={name}>
            <i style={{ background: `var(--${name})` }} />
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
