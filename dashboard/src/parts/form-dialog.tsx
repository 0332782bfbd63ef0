/** A dialog with a form. What the server refuses is shown at the fields that it names. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiProblem } from "../api/client.ts";
import { problemText } from "../lib/toasts.ts";
import { Button } from "./basics.tsx";
import { Dialog, Field } from "./dialog.tsx";

/** The message at a path of the request, such as `when.cron`. */
export type ProblemAt = (...paths: readonly string[]) => string | null;

export function FormDialog(props: {
  title: string;
  close: () => void;
  /** What happens: "Create schedule". */
  verb: string;
  /** What stays: "Keep it". */
  keep: string;
  wide?: boolean;
  /** Sends the form. The dialog closes when it resolves. */
  submit: () => Promise<void>;
  /** More buttons, at the left of the foot. */
  others?: ComponentChildren;
  children: (problemAt: ProblemAt) => ComponentChildren;
}): JSX.Element {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      await props.submit();
      props.close();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const shown = new Set<string>();
  return (
    <Dialog
      title={props.title}
      close={props.close}
      wide={props.wide === true}
      foot={
        <>
          {props.others}
          <Button onClick={props.close}>{props.keep}</Button>
          <Button kind="primary" disabled={isBusy} onClick={() => void send()}>
            {props.verb}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {props.children(problemsAt(error, shown))}
        <Refusal error={error} shown={shown} />
        {/* Enter in a field sends the form. */}
        <button type="submit" class="sr" tabIndex={-1} aria-hidden="true" />
      </form>
    </Dialog>
  );
}

/** The reason of a change, which the server wants and the audit keeps. */
export function ReasonField(props: {
  value: string;
  problem: string | null;
  onInput: (value: string) => void;
}): JSX.Element {
  const { value, problem, onInput } = props;
  return (
    <Field label="Reason" hint="Needed; shown in the audit trail" problem={problem}>
      <input
        class="field"
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  );
}

/** Drawn after the fields, when it is known which messages they show. */
function Refusal(props: { error: unknown; shown: ReadonlySet<string> }): JSX.Element | null {
  const { error, shown } = props;
  if (error === null) return null;
  const isMarked = errorsOf(error).some(({ path }) => shown.has(path));
  return (
    <p class="bad" role="alert">
      {isMarked ? "The server has refused what is marked above." : problemText(error)}
    </p>
  );
}

function errorsOf(error: unknown): readonly { readonly path: string; readonly message: string }[] {
  return error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
}

/** `shown` collects the paths that have a field, so that their messages are not repeated. */
function problemsAt(error: unknown, shown: Set<string>): ProblemAt {
  return (...paths) => {
    const found = errorsOf(error).find(({ path }) => paths.includes(path));
    if (found !== undefined) shown.add(found.path);
    return found?.message ?? null;
  };
}
