/** Reprocess: what changes is shown once more, then a new job is made. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiProblem, call } from "../../api/client.ts";
import type { DeadLetter } from "../../api/operations.gen.ts";
import { plural } from "../../lib/format.ts";
import { useKeptText } from "../../lib/kept-text.ts";
import { href } from "../../lib/router.ts";
import { problemText, toast } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { Dialog, Field, openDialog } from "../../parts/dialog.tsx";
import { Note } from "../../parts/notices.tsx";
import { changeCount, type DiffLine } from "./diff.ts";
import { DiffView } from "./diff-view.tsx";

export interface Reprocess {
  readonly letter: DeadLetter;
  /** The edited payload as JSON text; undefined: the payload stays as it is stored. */
  readonly payload?: string;
  readonly changes: readonly DiffLine[];
  /** What would not arrive as it is written. */
  readonly warnings: readonly string[];
  /** Called when the new job exists. */
  readonly done: () => Promise<void>;
}

export function askReprocess(request: Reprocess): void {
  openDialog((close) => <ReprocessDialog request={request} close={close} />);
}

function ReprocessDialog(props: { request: Reprocess; close: () => void }): JSX.Element {
  const { request, close } = props;
  const { letter, changes } = request;
  const [kept, keep] = useKeptText(`reason.${letter.id}`);
  const reason = kept ?? "";
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isReady = reason.trim() !== "" && !isBusy;
  const count = changeCount(changes);
  const send = async (): Promise<void> => {
    if (!isReady) return;
    setBusy(true);
    try {
      const { id } = await call("reprocessDeadLetter", {
        params: { id: letter.id },
        bodyText: bodyOf(request, reason),
      });
      keep(null);
      await request.done();
      close();
      // The list may have gone on to the letters of another cause.
      const link = { text: "Show it", href: href(["jobs", id]) };
      toast({ tone: "good", title: "The letter is reprocessed as a new job", link });
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      wide={count > 0}
      title={`Reprocess this letter${count === 0 ? "" : ` with ${plural(count, "change")}`}?`}
      close={close}
      foot={
        <>
          <Button onClick={close}>Leave it</Button>
          <Button kind="primary" disabled={!isReady} onClick={() => void send()}>
            Reprocess 1 letter
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
        <p>A new job of type {letter.type} is enqueued and linked to this letter.</p>
        {count > 0 && <DiffView lines={changes} />}
        {count > 0 && request.warnings.length > 0 && (
          <Note tone="warn" title="This payload would not arrive as it is written">
            {request.warnings.join(" ")}
          </Note>
        )}
        <Field label="Reason" hint="Needed; shown in the audit trail">
          <input
            class="field"
            value={reason}
            onInput={(event) => keep(event.currentTarget.value)}
          />
        </Field>
        {problem !== null && <Refusal of={problem} />}
      </form>
    </Dialog>
  );
}

/** The text of the payload is sent as it is written: values of JavaScript would lose digits. */
function bodyOf({ payload }: Reprocess, reason: string): string {
  const notes = JSON.stringify(reason.trim());
  return payload === undefined ? `{"notes":${notes}}` : `{"notes":${notes},"payload":${payload}}`;
}

/** Why the server has refused, with the places in the payload. */
function Refusal({ of: error }: { of: unknown }): JSX.Element {
  const places = error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
  return (
    <div class="refusal bad" role="alert">
      <p>{error instanceof ApiProblem ? error.message : problemText(error)}</p>
      {places.length > 0 && (
        <ul>
          {places.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path === "" ? "/" : path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiProblem && error.problem.hint !== undefined && (
        <p class="sub">{error.problem.hint}</p>
      )}
    </div>
  );
}
