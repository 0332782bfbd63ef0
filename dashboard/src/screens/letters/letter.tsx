/** One letter: what happened, the payload, the notes, and what a person can do. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiProblem, call } from "../../api/client.ts";
import type { DeadLetter } from "../../api/operations.gen.ts";
import { copyText } from "../../lib/copy.ts";
import { plural } from "../../lib/format.ts";
import { useKeptText } from "../../lib/kept-text.ts";
import { useKeys } from "../../lib/keys.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { toast, toastProblem } from "../../lib/toasts.ts";
import { useResource } from "../../live/resource.ts";
import { Button, ButtonLink, CopyButton, Panel } from "../../parts/basics.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Empty, Loaded, Note } from "../../parts/notices.tsx";
import { Attempts, ErrorAndFacts } from "./facts.tsx";
import { Notes } from "./notes.tsx";
import { editOf, PayloadPanel, type Edit } from "./payload.tsx";
import { askReprocess } from "./reprocess.tsx";
import { Trail } from "./trail.tsx";
import { isOpen, letterTitle } from "./words.tsx";

export interface LetterProps {
  readonly id: string;
  /** The list that the letter was opened from. */
  readonly back: string;
  /** Called with the cause of the letter, for the list beside it. */
  readonly tellCause: (cause: string) => void;
  /** Reads the list and its numbers again. */
  readonly reload: () => Promise<void>;
}

interface Read {
  readonly letter: DeadLetter;
  /** The payload as it is stored. */
  readonly stored: string;
}

export function LetterView({ id, back, tellCause, reload }: LetterProps): JSX.Element {
  const read = useResource(`letter ${id}`, (signal) => readLetter(id, signal), {
    on: ["job:deleted"],
    everyMs: 30_000,
  });
  const cause = read.data.value?.letter.cause;
  useEffect(() => {
    if (cause !== undefined) tellCause(cause);
  }, [cause]);
  const error = read.error.value;
  if (error instanceof ApiProblem && error.status === 404 && read.data.value === null) {
    return (
      <div class="letter">
        <Empty
          title="There is no such letter"
          actions={<ButtonLink href={back}>All letters</ButtonLink>}
        >
          Closed letters are removed after some time.
        </Empty>
      </div>
    );
  }
  const reloadAll = async (): Promise<void> => {
    await Promise.all([read.reload(), reload()]);
  };
  return (
    <div class="letter">
      <div class="letter-back">
        <ButtonLink href={back} icon="left" kind="quiet">
          All letters
        </ButtonLink>
      </div>
      <Loaded of={read}>{(data) => <LetterPanels {...data} reload={reloadAll} />}</Loaded>
    </div>
  );
}

async function readLetter(id: string, signal: AbortSignal): Promise<Read> {
  const letter = await call("getDeadLetter", { params: { id }, signal });
  // What is damaged is no JSON.
  if (letter.damaged !== undefined) return { letter, stored: "null" };
  const { payload } = await call("getDeadLetterTexts", { params: { id }, signal });
  return { letter, stored: payload ?? "null" };
}

function LetterPanels({
  letter,
  stored,
  reload,
}: Read & { reload: () => Promise<void> }): JSX.Element {
  const [draft, setDraft] = useKeptText(`payload.${letter.id}`);
  const mayReprocess = may("reprocessDeadLetter") && isOpen(letter);
  const edit = editOf(stored, draft, setDraft);
  const reprocess = (): void => {
    if (!mayReprocess) return;
    if (!edit.check.isJson) {
      toast({ tone: "bad", title: "The edited payload is not JSON", text: edit.check.message });
      return;
    }
    askReprocess({
      letter,
      changes: edit.lines,
      warnings: edit.check.warnings,
      ...(edit.changes === 0 ? {} : { payload: draft ?? stored }),
      done: async () => {
        setDraft(null);
        await reload();
      },
    });
  };
  useKeys({ r: reprocess, y: () => void copyText(letter.id) });
  return (
    <div class="letter-cols">
      <div class="stack">
        <Panel
          title={<span class="letter-title">{letterTitle(letter)}</span>}
          aside={<Actions letter={letter} edit={edit} reprocess={reprocess} reload={reload} />}
          class="letter-main"
        >
          <ErrorAndFacts letter={letter} />
        </Panel>
        {letter.damaged?.includes("payload") === true && (
          <Note tone="bad" title="The stored payload is damaged">
            It cannot be read. Reprocess the letter with an edited payload.
          </Note>
        )}
        <PayloadPanel stored={stored} edit={edit} mayEdit={mayReprocess} />
        <Attempts letter={letter} />
      </div>
      <div class="letter-two">
        <Notes letter={letter} reload={reload} />
        <Trail letter={letter} />
      </div>
    </div>
  );
}

function Actions(props: {
  letter: DeadLetter;
  edit: Edit;
  reprocess: () => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { letter, edit, reprocess, reload } = props;
  if (!isOpen(letter)) {
    return letter.successorId === null ? (
      <CopyButton text={letter.id} label="Copy the id" />
    ) : (
      <ButtonLink href={href(["jobs", letter.successorId])} icon="link" kind="primary">
        Open the new job
      </ButtonLink>
    );
  }
  const { changes } = edit;
  return (
    <>
      {may("acknowledgeDeadLetter") && letter.status === "pending_review" && (
        <Button icon="check" onClick={() => void acknowledge(letter, reload)}>
          Acknowledge
        </Button>
      )}
      {may("discardDeadLetter") && (
        <Button kind="danger" onClick={() => askDiscardOne(letter, reload)}>
          Discard…
        </Button>
      )}
      {may("reprocessDeadLetter") && (
        <Button
          kind="primary"
          icon="retry"
          keycap="r"
          disabled={!edit.check.isJson}
          onClick={reprocess}
        >
          {changes === 0 ? "Reprocess…" : `Reprocess with ${plural(changes, "change")}…`}
        </Button>
      )}
    </>
  );
}

async function acknowledge({ id }: DeadLetter, reload: () => Promise<void>): Promise<void> {
  try {
    await call("acknowledgeDeadLetter", { params: { id }, body: {} });
    await reload();
  } catch (error) {
    toastProblem("The letter was not acknowledged", error);
  }
}

function askDiscardOne(letter: DeadLetter, reload: () => Promise<void>): void {
  ask({
    title: "Discard this letter?",
    text: `${letterTitle(letter)}. It is closed without a new job.`,
    count: 1,
    verb: "Discard 1 letter",
    keep: "Keep it",
    isDangerous: true,
    reason: "required",
    act: async (notes) => {
      await call("discardDeadLetter", { params: { id: letter.id }, body: { notes } });
      await reload();
    },
  });
}
