/** Sets or changes a limit. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Limit } from "../../api/operations.gen.ts";
import { Field } from "../../parts/dialog.tsx";
import { FormDialog, ReasonField, type ProblemAt } from "../../parts/form-dialog.tsx";
import { limitName, ruleOf, tenantOf, typedRule, type TypedRule } from "./limit-rule.ts";

const KINDS = ["type", "tenant", "service", "installation", "key"] as const;

export function LimitForm(props: {
  limit: Limit | null;
  close: () => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { limit, close, reload } = props;
  const [kind, setKind] = useState<Limit["kind"]>(limit?.kind ?? "type");
  const [name, setName] = useState(limit?.name ?? "");
  const [typed, setTyped] = useState<TypedRule>(typedRule(limit));
  const [reason, setReason] = useState("");
  const set = (part: keyof TypedRule) => (event: { currentTarget: HTMLInputElement }) =>
    setTyped({ ...typed, [part]: event.currentTarget.value });
  const submit = async (): Promise<void> => {
    await call("setLimit", {
      params: { kind, name: kind === "installation" ? "all" : name },
      query: limit === null ? {} : tenantOf(limit),
      body: { ...ruleOf(typed), reason: reason.trim() },
    });
    await reload();
  };
  const title = limit === null ? "Set a limit" : `Limit of ${limitName(limit)}`;
  return (
    <FormDialog title={title} close={close} verb="Set limit" keep="Leave it" submit={submit}>
      {(at) => (
        <>
          {limit === null && (
            <TargetFields kind={kind} name={name} at={at} setKind={setKind} setName={setName} />
          )}
          <Field label="Jobs at the same time" problem={at("concurrency")} hint="Empty: no limit">
            <input
              class="field"
              inputMode="numeric"
              value={typed.concurrency}
              onInput={set("concurrency")}
            />
          </Field>
          <div class="pair three">
            <Field label="Starts" problem={at("rate.limit", "rate")} hint="Empty: no limit">
              <input class="field" inputMode="numeric" value={typed.limit} onInput={set("limit")} />
            </Field>
            <Field label="In" problem={at("rate.perMs")} hint="Such as 1s, 1m, 1h">
              <input class="field" value={typed.per} onInput={set("per")} />
            </Field>
            <Field label="At once" problem={at("rate.burst")} hint="Empty: as many as starts">
              <input class="field" inputMode="numeric" value={typed.burst} onInput={set("burst")} />
            </Field>
          </div>
          <ReasonField value={reason} problem={at("reason")} onInput={setReason} />
        </>
      )}
    </FormDialog>
  );
}

function TargetFields(props: {
  kind: Limit["kind"];
  name: string;
  at: ProblemAt;
  setKind: (kind: Limit["kind"]) => void;
  setName: (name: string) => void;
}): JSX.Element {
  const { kind, name, at, setKind, setName } = props;
  return (
    <div class="pair">
      <Field label="Of">
        <select
          class="field"
          value={kind}
          onChange={({ currentTarget }) =>
            setKind(KINDS.find((each) => each === currentTarget.value) ?? "type")
          }
        >
          {KINDS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Field>
      {kind !== "installation" && (
        <Field label="Name" problem={at("name")}>
          <input
            class="field"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Field>
      )}
    </div>
  );
}
