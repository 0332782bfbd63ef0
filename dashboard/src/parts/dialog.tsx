/** Dialogs. The focus goes in, stays in, and returns to where it came from. */
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { numberText } from "../lib/format.ts";
import { useKeys } from "../lib/keys.ts";
import { problemText } from "../lib/toasts.ts";
import { Button } from "./basics.tsx";

/** Above so many items a person types the number. */
const TYPED_ABOVE = 1_000;

const opened = signal<readonly { readonly id: number; readonly view: () => JSX.Element }[]>([]);
let last = 0;

/** Opens a dialog. `view` gets the function that closes it. */
export function openDialog(view: (close: () => void) => JSX.Element): void {
  const id = (last += 1);
  const close = (): void => {
    opened.value = opened.value.filter((each) => each.id !== id);
  };
  opened.value = [...opened.value, { id, view: () => view(close) }];
}

/** Where dialogs are drawn. */
export function Dialogs(): JSX.Element {
  return (
    <>
      {opened.value.map(({ id, view: View }) => (
        <View key={id} />
      ))}
    </>
  );
}

export function Dialog(props: {
  title: ComponentChildren;
  close: () => void;
  foot?: ComponentChildren;
  wide?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const frame = useRef<HTMLDialogElement>(null);
  const title = useId();
  useKeys({ Escape: () => props.close() }, true);
  // Before the next key: what is typed right after the dialog appears is for the dialog.
  useLayoutEffect(() => {
    const from = document.activeElement;
    frame.current?.showModal();
    // A region that scrolls comes first otherwise, and what is typed goes nowhere.
    frame.current?.querySelector<HTMLElement>("input, textarea, select")?.focus();
    return () => {
      if (from instanceof HTMLElement) from.focus();
    };
  }, []);
  return (
    <dialog
      ref={frame}
      class={props.wide === true ? "dialog wide" : "dialog"}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      onMouseDown={(event) => {
        if (event.target === frame.current) props.close();
      }}
    >
      <div class="dialog-frame">
        <h2 id={title}>{props.title}</h2>
        <div class="dialog-body">{props.children}</div>
        {props.foot !== undefined && <footer>{props.foot}</footer>}
      </div>
    </dialog>
  );
}

export interface Question {
  readonly title: string;
  readonly text?: ComponentChildren;
  /** How many items it concerns; above 1,000 the number must be typed. */
  readonly count: number;
  /** What happens: "Discard 12 letters". */
  readonly verb: string;
  /** What stays: "Keep them". */
  readonly keep: string;
  readonly isDangerous?: boolean;
  /** Ask for a reason, which the audit keeps. */
  readonly reason?: "optional" | "required";
  /** More fields of the question. */
  readonly extra?: ComponentChildren;
  /** Called with the reason. The dialog closes when it resolves and shows an error otherwise. */
  readonly act: (reason: string) => Promise<void>;
}

/** Asks before something happens to jobs. */
export function ask(question: Question): void {
  openDialog((close) => <Confirm question={question} close={close} />);
}

function Confirm({ question, close }: { question: Question; close: () => void }): JSX.Element {
  const { title, text, count, verb, keep, isDangerous = false, reason } = question;
  const [why, setWhy] = useState("");
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isTyped = count <= TYPED_ABOVE || typed.replaceAll(/\D/g, "") === String(count);
  const isReady = isTyped && !isBusy && (reason !== "required" || why.trim() !== "");
  const act = async (): Promise<void> => {
    if (!isReady) return;
    setBusy(true);
    try {
      await question.act(why.trim());
      close();
    } catch (error) {
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      close={close}
      foot={
        <>
          <Button onClick={close}>{keep}</Button>
          <Button
            kind={isDangerous ? "danger-fill" : "primary"}
            disabled={!isReady}
            onClick={() => void act()}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act();
        }}
      >
        {text !== undefined && <p>{text}</p>}
        {question.extra}
        {reason !== undefined && (
          <Field
            label="Reason"
            hint={
              reason === "required"
                ? "Needed; shown in the audit trail"
                : "Optional; shown in the audit trail"
            }
          >
            <input
              class="field"
              value={why}
              onInput={(event) => setWhy(event.currentTarget.value)}
            />
          </Field>
        )}
        {count > TYPED_ABOVE && (
          <Field label={`Type ${numberText(count)} to confirm`} hint="Asked above 1,000 items">
            <input
              class="field"
              inputMode="numeric"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </Field>
        )}
        {problem !== null && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        {/* Enter in a field sends the form. */}
        <button type="submit" class="sr" tabIndex={-1} aria-hidden="true" />
      </form>
    </Dialog>
  );
}

export function Field(props: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  problem?: string | null;
  children: ComponentChildren;
}): JSX.Element {
  const { problem = null } = props;
  return (
    <label class="labelled">
      <span>{props.label}</span>
      {props.children}
      {props.hint !== undefined && problem === null && <small>{props.hint}</small>}
      {problem !== null && <small class="bad">{problem}</small>}
    </label>
  );
}
