/** Payload rules: what the payloads of an installation, a category or a type must keep to. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { PayloadRule, StoredPayloadRule } from "../../api/operations.gen.ts";
import { may } from "../../lib/session.ts";
import { problemText } from "../../lib/toasts.ts";
import { useResource } from "../../live/resource.ts";
import { Button, Panel, Tag, Time } from "../../parts/basics.tsx";
import { ask, Dialog, Field, openDialog } from "../../parts/dialog.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { ruleWords } from "./words.ts";

type Reload = () => Promise<void>;
const SCOPES = ["installation", "category", "type"] as const;
type RuleScope = (typeof SCOPES)[number];

export function PayloadRules(): JSX.Element {
  const rules = useResource("payload-rules", (signal) => call("listPayloadRules", { signal }), {
    on: [],
  });
  const reload: Reload = () => rules.reload();
  const create = (): void =>
    openDialog((close) => <RuleDialog rule={null} reload={reload} close={close} />);
  return (
    <Panel
      flush
      title="Payload rules"
      {...(may("setPayloadRule")
        ? {
            aside: (
              <Button icon="plus" onClick={create}>
                New rule…
              </Button>
            ),
          }
        : {})}
    >
      <Loaded of={rules}>
        {(data) =>
          data.rules.length === 0 ? (
            <Empty
              title="No rule is set"
              command={
                'await mill.payloadRules.set({ type: "email" }, { hardBytes: 65_536 }, { actor: "ada" });'
              }
            >
              A rule names required and forbidden fields, sizes, and what happens to secrets in
              payloads.
            </Empty>
          ) : (
            <Table
              label="Payload rules"
              columns={columnsOf(reload)}
              rows={data.rules}
              keyOf={({ scope, name }) => `rule-${scope}-${name}`}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function columnsOf(reload: Reload): readonly Column<StoredPayloadRule>[] {
  return [
    {
      id: "scope",
      head: "For",
      isName: true,
      cell: ({ scope, name }) => (
        <span class="cut" title={name}>
          <span class="dim">{scope}</span> {scope === "installation" ? "" : name}
        </span>
      ),
    },
    {
      id: "rule",
      head: "Rule",
      cell: ({ rule }) => (
        <span class="wrap">{ruleWords(rule).join(" · ") || "asks for nothing"}</span>
      ),
    },
    {
      id: "owner",
      head: "Set by",
      cell: ({ owner, setBy, setAt, reason }) => (
        <span title={reason ?? undefined}>
          <Tag>{owner}</Tag> {setBy} <Time at={setAt} />
        </span>
      ),
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      isNumber: true,
      cell: (rule) => <RuleActions rule={rule} reload={reload} />,
    },
  ];
}

function RuleActions({ rule, reload }: { rule: StoredPayloadRule; reload: Reload }): JSX.Element {
  const edit = (): void =>
    openDialog((close) => <RuleDialog rule={rule} reload={reload} close={close} />);
  return (
    <span class="row-actions">
      {may("setPayloadRule") && <Button onClick={edit}>Change…</Button>}
      {may("removePayloadRule") && (
        <Button kind="danger" onClick={() => askRemove(rule, reload)}>
          Remove…
        </Button>
      )}
    </span>
  );
}

function askRemove({ scope, name }: StoredPayloadRule, reload: Reload): void {
  ask({
    title: `Remove the rule of ${scope === "installation" ? "the installation" : `${scope} ${name}`}?`,
    text: "Payloads are no longer checked against it.",
    count: 1,
    verb: "Remove 1 rule",
    keep: "Keep it",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("removePayloadRule", { params: { scope, name }, query: { reason } });
      await reload();
    },
  });
}

const EXAMPLE = `{
  "required": { "customer_id": "integer" },
  "hardBytes": 65536,
  "sensitive": { "passwords": "reject" }
}`;

interface RuleForm {
  readonly scope: RuleScope;
  readonly name: string;
  readonly text: string;
  readonly reason: string;
}

function RuleDialog(props: {
  rule: StoredPayloadRule | null;
  reload: Reload;
  close: () => void;
}): JSX.Element {
  const { rule, reload, close } = props;
  const [form, setForm] = useState<RuleForm>(() => ({
    scope: rule?.scope ?? "type",
    name: rule?.scope === "installation" ? "" : (rule?.name ?? ""),
    text: rule === null ? EXAMPLE : JSON.stringify(rule.rule, null, 2),
    reason: "",
  }));
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    try {
      await send(form);
      await reload();
      close();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <Dialog
      title={rule === null ? "New payload rule" : "Change the payload rule"}
      close={close}
      foot={
        <>
          <Button onClick={close}>Leave it</Button>
          <Button kind="primary" onClick={() => void save()}>
            Set 1 rule
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <RuleFields
          form={form}
          isNew={rule === null}
          set={(changes) => setForm({ ...form, ...changes })}
        />
        {problem !== null && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
      </form>
    </Dialog>
  );
}

async function send({ scope, name, text, reason }: RuleForm): Promise<void> {
  const isNamed = scope !== "installation";
  if (isNamed && name.trim() === "") throw new Error(`Write the name of the ${scope}.`);
  let rule: PayloadRule;
  try {
    rule = JSON.parse(text);
  } catch (error) {
    throw new Error(`The rule is not JSON: ${problemText(error)}`, { cause: error });
  }
  await call("setPayloadRule", {
    params: { scope, name: isNamed ? name.trim() : "all" },
    body: { rule, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) },
  });
}

function RuleFields(props: {
  form: RuleForm;
  isNew: boolean;
  set: (changes: Partial<RuleForm>) => void;
}): JSX.Element {
  const { form, isNew, set } = props;
  return (
    <>
      <Field label="For">
        <select
          class="field"
          disabled={!isNew}
          value={form.scope}
          onChange={(event) => {
            const scope = SCOPES.find((each) => each === event.currentTarget.value);
            if (scope !== undefined) set({ scope });
          }}
        >
          {SCOPES.map((scope) => (
            <option key={scope} value={scope}>
              {scope === "installation" ? "the whole installation" : `one ${scope}`}
            </option>
          ))}
        </select>
      </Field>
      {form.scope !== "installation" && (
        <Field label="Name">
          <input
            class="field"
            disabled={!isNew}
            value={form.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </Field>
      )}
      <Field label="Rule" hint="JSON: required, softBytes, hardBytes, forbidden, sensitive, strict">
        <textarea
          class="field code"
          spellcheck={false}
          value={form.text}
          onInput={(event) => set({ text: event.currentTarget.value })}
        />
      </Field>
      <Field label="Reason" hint="Shown in the audit trail">
        <input
          class="field"
          value={form.reason}
          onInput={(event) => set({ reason: event.currentTarget.value })}
        />
      </Field>
    </>
  );
}
