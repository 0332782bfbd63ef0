/** Enqueues a job of a type: a form made from its schema, or JSON. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiProblem, call, type AnswerOf } from "../../api/client.ts";
import { indented } from "../../lib/json-text.ts";
import { href } from "../../lib/router.ts";
import { problemText } from "../../lib/toasts.ts";
import { Button, Choice, Panel } from "../../parts/basics.tsx";
import { Field } from "../../parts/dialog.tsx";
import { Note } from "../../parts/notices.tsx";
import { SchemaForm } from "./schema-form.tsx";
import {
  checkJson,
  fieldsOf,
  firstValues,
  payloadOf,
  problemsOf,
  type FormField,
  type Values,
} from "./schema-fields.ts";

type Options = Readonly<Record<"tenant" | "delay" | "priority" | "key", string>>;
type Problems = Readonly<Record<string, string>>;
const NO_OPTIONS: Options = { tenant: "", delay: "", priority: "", key: "" };

/** What a person has typed as payload, in the form or as JSON. */
interface Draft {
  readonly fields: readonly FormField[] | null;
  readonly mode: Mode;
  readonly values: Values;
  readonly text: string;
}

type Mode = "form" | "json";
type Read = { readonly payload: unknown } | { readonly problems: Problems };

function read({ fields, mode, values, text }: Draft): Read {
  if (mode === "form" && fields !== null) {
    const { payload, problems } = payloadOf(fields, values);
    return Object.keys(problems).length === 0 ? { payload } : { problems };
  }
  const checked = checkJson(text);
  return "problem" in checked ? { problems: { "": checked.problem } } : { payload: checked.value };
}

/** What was typed in the form is not lost when a person goes on with JSON. */
function inMode(draft: Draft, mode: Mode): Draft {
  if (mode === "form" || draft.fields === null) return { ...draft, mode };
  const { payload } = payloadOf(draft.fields, draft.values);
  return { ...draft, mode, text: indented(JSON.stringify(payload)) };
}

function firstDraft(schema: unknown): Draft {
  const fields = fieldsOf(schema);
  const mode = fields === null ? "json" : "form";
  return { fields, mode, values: firstValues(fields ?? []), text: "{}" };
}

export function RunForm({ type, schema }: { type: string; schema: unknown }): JSX.Element {
  const [draft, setDraft] = useState(() => firstDraft(schema));
  const [options, setOptions] = useState(NO_OPTIONS);
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [made, setMade] = useState<AnswerOf<"enqueueJob"> | null>(null);
  const send = async (): Promise<void> => {
    const filled = read(draft);
    setFailure(null);
    setMade(null);
    setProblems("problems" in filled ? filled.problems : {});
    if ("problems" in filled) return;
    try {
      const body = { type, payload: filled.payload, options: optionsOf(options) };
      setMade(await call("enqueueJob", { body }));
    } catch (error) {
      setProblems(problemsOf(error instanceof ApiProblem ? (error.problem.errors ?? []) : []));
      setFailure(problemText(error));
    }
  };
  const change = (mode: Mode): void => {
    setProblems({});
    setDraft(inMode(draft, mode));
  };
  return (
    <Panel
      class="c6"
      title="Run a job"
      aside={draft.fields !== null && <ModeChoice mode={draft.mode} onChange={change} />}
    >
      <form
        class="run-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <PayloadFields draft={draft} problems={problems} onChange={setDraft} />
        <OptionFields options={options} problems={problems} onChange={setOptions} />
        {failure !== null && (
          <p class="bad wrap" role="alert">
            {failure}
          </p>
        )}
        <Button kind="primary" icon="play" type="submit">
          Run a job
        </Button>
        {made !== null && <Made job={made} />}
      </form>
    </Panel>
  );
}

function ModeChoice(props: { mode: Mode; onChange: (mode: Mode) => void }): JSX.Element {
  return (
    <Choice
      label="How the payload is written"
      value={props.mode}
      options={[
        ["form", "Form"],
        ["json", "JSON"],
      ]}
      onChange={props.onChange}
    />
  );
}

function PayloadFields(props: {
  draft: Draft;
  problems: Problems;
  onChange: (draft: Draft) => void;
}): JSX.Element {
  const { draft, problems, onChange } = props;
  const { fields, mode, values, text } = draft;
  if (mode === "form" && fields !== null) {
    return (
      <SchemaForm
        fields={fields}
        values={values}
        problems={problems}
        onChange={(path, value) => onChange({ ...draft, values: { ...values, [path]: value } })}
      />
    );
  }
  return (
    <Field label="Payload" hint="JSON; empty: no payload" problem={problems[""] ?? null}>
      <textarea
        class="field code"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onChange({ ...draft, text: currentTarget.value })}
      />
    </Field>
  );
}

function Made({ job }: { job: AnswerOf<"enqueueJob"> }): JSX.Element {
  return (
    <Note
      tone="info"
      title={job.created ? "The job was enqueued" : "A job with this key exists already"}
    >
      <a class="mono wrap" href={href(["jobs", job.id])}>
        {job.id}
      </a>
    </Note>
  );
}

function OptionFields(props: {
  options: Options;
  problems: Problems;
  onChange: (options: Options) => void;
}): JSX.Element {
  const { options, problems, onChange } = props;
  const fields = [
    ["tenant", "Tenant", "Empty: the default one", "options.tenant"],
    ["delay", "Delay", "Such as 90s, 5m, 2h", "options.delay"],
    ["priority", "Priority", "A number, or high, normal, low", "options.priority"],
    ["key", "Idempotency key", "The same key gives the same job", "options.idempotencyKey"],
  ] as const;
  return (
    <details class="more-options">
      <summary>Options</summary>
      <div class="pair">
        {fields.map(([name, label, hint, path]) => (
          <Field key={name} label={label} hint={hint} problem={problems[path] ?? null}>
            <input
              class="field"
              value={options[name]}
              onInput={({ currentTarget }) => onChange({ ...options, [name]: currentTarget.value })}
            />
          </Field>
        ))}
      </div>
    </details>
  );
}

function optionsOf({ tenant, delay, priority, key }: Options) {
  const word = (["critical", "high", "normal", "low"] as const).find((each) => each === priority);
  return {
    ...(tenant === "" ? {} : { tenant }),
    ...(delay === "" ? {} : { delay }),
    ...(priority === "" ? {} : { priority: word ?? Number(priority) }),
    ...(key === "" ? {} : { idempotencyKey: key }),
  };
}
