/** Notes of people, and who takes care of the letter. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { DeadLetter } from "../../api/operations.gen.ts";
import { useKeptText } from "../../lib/kept-text.ts";
import { may, session } from "../../lib/session.ts";
import { problemText, toastProblem } from "../../lib/toasts.ts";
import { Button, Panel, Time } from "../../parts/basics.tsx";
import { ask, Field } from "../../parts/dialog.tsx";
import { isOpen } from "./words.tsx";

interface NotesProps {
  readonly letter: DeadLetter;
  readonly reload: () => Promise<void>;
}

export function Notes({ letter, reload }: NotesProps): JSX.Element {
  const notes = letter.reviews.filter(({ notes: text }) => text !== null).toReversed();
  return (
    <Panel title="Notes" sub={notes.length}>
      <div class="stack">
        <Assignment letter={letter} reload={reload} />
        {notes.length > 0 && (
          <ul class="notes">
            {notes.map(({ at, by, notes: text }) => (
              <li key={`${at} ${by}`}>
                <div class="sub">
                  <b>{by}</b> <Time at={at} />
                </div>
                <p class="wrap">{text}</p>
              </li>
            ))}
          </ul>
        )}
        {may("noteDeadLetter") && <NoteForm letter={letter} reload={reload} />}
      </div>
    </Panel>
  );
}

function NoteForm({ letter, reload }: NotesProps): JSX.Element {
  const [kept, keep] = useKeptText(`note.${letter.id}`);
  const [problem, setProblem] = useState<string | null>(null);
  const text = kept ?? "";
  const send = async (): Promise<void> => {
    if (text.trim() === "") return;
    try {
      await call("noteDeadLetter", { params: { id: letter.id }, body: { notes: text.trim() } });
      keep(null);
      setProblem(null);
      await reload();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Field label="Add a note" problem={problem}>
        <textarea
          class="field"
          placeholder="What did you find? What should the next person know?"
          value={text}
          onInput={(event) => keep(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
          }}
        />
      </Field>
      <div class="row">
        <Button type="submit" disabled={text.trim() === ""}>
          Add note
        </Button>
      </div>
    </form>
  );
}

function Assignment({ letter, reload }: NotesProps): JSX.Element | null {
  const { assignedTo } = letter;
  const mayAssign = may("assignDeadLetter") && isOpen(letter);
  if (assignedTo === null && !mayAssign) return null;
  const me = session.value?.actor ?? "";
  const give = async (to: string | null): Promise<void> => {
    try {
      await call("assignDeadLetter", { params: { id: letter.id }, body: { to } });
      await reload();
    } catch (error) {
      toastProblem("The letter was not assigned", error);
    }
  };
  return (
    <div class="row assigned">
      <span class="grow wrap">
        {assignedTo === null ? (
          <span class="dim">Assigned to no person</span>
        ) : (
          <>
            Assigned to <b>{assignedTo}</b>
          </>
        )}
      </span>
      {mayAssign && assignedTo !== me && <Button onClick={() => void give(me)}>Take it</Button>}
      {mayAssign && <Button onClick={() => askAssign(letter, reload)}>Assign…</Button>}
      {mayAssign && assignedTo !== null && (
        <Button kind="quiet" onClick={() => void give(null)}>
          Take back
        </Button>
      )}
    </div>
  );
}

function askAssign(letter: DeadLetter, reload: () => Promise<void>): void {
  const to = signal(letter.assignedTo ?? "");
  const Person = (): JSX.Element => (
    <Field label="Person" hint="The name with which the person signs in">
      <input
        class="field"
        value={to.value}
        onInput={(event) => (to.value = event.currentTarget.value)}
      />
    </Field>
  );
  ask({
    title: "Assign this letter",
    count: 1,
    verb: "Assign 1 letter",
    keep: "Leave it",
    reason: "optional",
    extra: <Person />,
    act: async (notes) => {
      const name = to.value.trim();
      if (name === "") throw new Error("Write the name of a person.");
      const body = { to: name, ...(notes === "" ? {} : { notes }) };
      await call("assignDeadLetter", { params: { id: letter.id }, body });
      await reload();
    },
  });
}
