/** Settings of a type in place of those that its workers declare. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Type, TypeSettings } from "../../api/operations.gen.ts";
import { may } from "../../lib/session.ts";
import { toastProblem } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { Field } from "../../parts/dialog.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { lengthOf, lengthText } from "./limit-rule.ts";

interface Typed {
  readonly lane: string;
  readonly priority: string;
  readonly maxAttempts: string;
  readonly timeout: string;
}

export function OverrideForm(props: {
  type: Type;
  close: () => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { type, close, reload } = props;
  const [typed, setTyped] = useState<Typed>(typedOf(type));
  const { declared } = type;
  const set = (part: keyof Typed) => (event: { currentTarget: HTMLInputElement }) =>
    setTyped({ ...typed, [part]: event.currentTarget.value });
  const submit = async (): Promise<void> => {
    await call("overrideType", { params: { type: type.type }, body: settingsOf(typed, type) });
    await reload();
  };
  const fields = [
    ["lane", "Lane", declared.lane, "lane"],
    ["priority", "Priority", declared.priority, "priority"],
    ["maxAttempts", "Attempts", declared.maxAttempts, "maxAttempts"],
    [
      "timeout",
      "Timeout",
      declared.timeoutMs === null ? "none" : lengthText(declared.timeoutMs),
      "timeoutMs",
    ],
  ] as const;
  return (
    <FormDialog
      title={`Override settings of ${type.type}`}
      close={close}
      verb="Override"
      keep="Leave them"
      submit={submit}
      others={
        type.override !== null &&
        may("resetType") && (
          <Button kind="danger" onClick={() => void reset(type.type, close, reload)}>
            Use what the code says
          </Button>
        )
      }
    >
      {(at) => (
        <>
          <p class="sub">
            An override counts for new jobs that are enqueued without code, and survives deploys.
          </p>
          <div class="pair">
            {fields.map(([part, label, code, path]) => (
              <Field key={part} label={label} hint={`The code says ${code}`} problem={at(path)}>
                <input class="field" value={typed[part]} onInput={set(part)} />
              </Field>
            ))}
          </div>
        </>
      )}
    </FormDialog>
  );
}

async function reset(type: string, close: () => void, reload: () => Promise<void>): Promise<void> {
  try {
    await call("resetType", { params: { type } });
    close();
    await reload();
  } catch (error) {
    toastProblem("The override was not removed", error);
  }
}

function typedOf({ lane, priority, maxAttempts, timeoutMs }: Type): Typed {
  return {
    lane,
    priority: String(priority),
    maxAttempts: String(maxAttempts),
    timeout: timeoutMs === null ? "none" : lengthText(timeoutMs),
  };
}

/** Only what was changed becomes an override. */
function settingsOf(typed: Typed, type: Type): TypeSettings {
  const timeoutMs = typed.timeout.trim() === "none" ? null : lengthOf(typed.timeout);
  if (timeoutMs === null && typed.timeout.trim() !== "none") {
    throw new Error(`"${typed.timeout}" is no length of time: write 30s, 5m or none.`);
  }
  const settings: TypeSettings = {
    ...(typed.lane === type.lane ? {} : { lane: typed.lane }),
    ...(typed.priority === String(type.priority) ? {} : { priority: Number(typed.priority) }),
    ...(typed.maxAttempts === String(type.maxAttempts)
      ? {}
      : { maxAttempts: Number(typed.maxAttempts) }),
    ...(timeoutMs === type.timeoutMs ? {} : { timeoutMs }),
  };
  if (Object.keys(settings).length === 0) throw new Error("Nothing was changed.");
  return settings;
}
