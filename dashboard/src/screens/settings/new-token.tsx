/** The dialog that makes a token, and shows its secret once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { NewToken } from "../../api/operations.gen.ts";
import { problemText } from "../../lib/toasts.ts";
import { Button, Choice } from "../../parts/basics.tsx";
import { Dialog, Field } from "../../parts/dialog.tsx";
import { Note, Snippet } from "../../parts/notices.tsx";
import { isDuration } from "./words.ts";

type Kind = NewToken["kind"];
type Role = NonNullable<NewToken["roles"]>[number];

const ROLES: readonly (readonly [Role, string])[] = [
  ["viewer", "sees jobs without payloads"],
  ["operator", "retries, cancels and pauses"],
  ["manager", "reads payloads, reprocesses and discards"],
  ["admin", "grants tokens"],
];

interface Form {
  readonly kind: Kind;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly tenant: string;
  readonly ttl: string;
}

const FIRST: Form = { kind: "person", name: "", roles: ["viewer"], tenant: "", ttl: "30d" };

export function NewTokenDialog(props: {
  reload: () => Promise<void>;
  close: () => void;
}): JSX.Element {
  const [form, setForm] = useState(FIRST);
  const [secret, setSecret] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const create = async (): Promise<void> => {
    const wrong = problemOf(form);
    if (wrong !== null) return setProblem(wrong);
    try {
      const created = await call("createToken", { body: bodyOf(form) });
      setSecret(created.secret);
      await props.reload();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  if (secret !== null) return <Secret name={form.name} secret={secret} close={props.close} />;
  return (
    <Dialog
      title="New token"
      close={props.close}
      foot={
        <>
          <Button onClick={props.close}>Make none</Button>
          <Button kind="primary" onClick={() => void create()}>
            Make 1 token
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TokenFields form={form} set={(changes) => setForm({ ...form, ...changes })} />
        {problem !== null && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="sr" tabIndex={-1} aria-hidden="true" />
      </form>
    </Dialog>
  );
}

function problemOf({ name, kind, roles, ttl }: Form): string | null {
  if (name.trim() === "") return "Write a name: it stands in the audit trail.";
  if (kind === "person" && roles.length === 0) return "Choose at least one role.";
  if (ttl.trim() !== "" && !isDuration(ttl.trim())) return "Write a duration such as 30d or 12h.";
  return null;
}

function bodyOf({ kind, name, roles, tenant, ttl }: Form): NewToken {
  return {
    kind,
    name: name.trim(),
    ...(kind === "person" ? { roles } : {}),
    ...(tenant.trim() === "" ? {} : { tenant: tenant.trim() }),
    ...(ttl.trim() === "" ? {} : { ttl: ttl.trim() }),
  };
}

function TokenFields({
  form,
  set,
}: {
  form: Form;
  set: (changes: Partial<Form>) => void;
}): JSX.Element {
  const text = (name: "name" | "tenant" | "ttl", label: string, hint: string): JSX.Element => (
    <Field label={label} hint={hint}>
      <input
        class="field"
        value={form[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
  return (
    <>
      <Choice
        label="Kind"
        value={form.kind}
        options={[
          ["person", "Person"],
          ["producer", "Producer"],
          ["worker", "Worker"],
        ]}
        onChange={(kind) => set({ kind })}
      />
      {text("name", "Name", "Of the person or program; it stands in the audit trail")}
      {form.kind === "person" && <Roles chosen={form.roles} set={(roles) => set({ roles })} />}
      {text("tenant", "Tenant", "Empty: all tenants that you may see")}
      {text("ttl", "Valid for", "Such as 12h or 30d; empty: the default of the server")}
    </>
  );
}

function Roles(props: {
  chosen: readonly Role[];
  set: (roles: readonly Role[]) => void;
}): JSX.Element {
  const toggle = (role: Role): void => {
    const isOn = props.chosen.includes(role);
    props.set(isOn ? props.chosen.filter((each) => each !== role) : [...props.chosen, role]);
  };
  return (
    <fieldset class="roles">
      <legend>Roles</legend>
      {ROLES.map(([role, what]) => (
        <label key={role}>
          <input
            type="checkbox"
            class="box"
            checked={props.chosen.includes(role)}
            onChange={() => toggle(role)}
          />
          <span>
            {role} <span class="dim">{what}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Secret(props: { name: string; secret: string; close: () => void }): JSX.Element {
  return (
    <Dialog
      title={`The token of ${props.name}`}
      close={props.close}
      foot={
        <Button kind="primary" onClick={props.close}>
          I have copied it
        </Button>
      }
    >
      <div class="stack">
        <Note tone="warn" title="This secret is shown once">
          The store keeps only a hash of it. Copy it now.
        </Note>
        <Snippet text={props.secret} label="Copy the secret" />
      </div>
    </Dialog>
  );
}
