/** The payload of a letter: as it is stored, an editor, and what the edit changes. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { indented } from "../../lib/json-text.ts";
import { Button, Choice, Panel, Tag } from "../../parts/basics.tsx";
import { Json } from "../../parts/json.tsx";
import { Note } from "../../parts/notices.tsx";
import { changeCount, diffLines, type DiffLine } from "./diff.ts";
import { DiffView } from "./diff-view.tsx";
import { checkDraft, type DraftCheck } from "./draft.ts";

type View = "original" | "edit" | "changes";

export interface Edit {
  /** What a person has typed; null: nothing. */
  readonly text: string | null;
  readonly check: DraftCheck;
  readonly lines: readonly DiffLine[];
  readonly changes: number;
  readonly set: (text: string | null) => void;
}

/** What a draft means for the stored payload. */
export function editOf(
  stored: string,
  draft: string | null,
  set: (text: string | null) => void,
): Edit {
  const check = checkDraft(draft ?? stored);
  // Both are indented alike, so that only content counts as a change.
  const after = draft === null ? stored : draft;
  const lines = diffLines(indented(stored), check.isJson ? indented(after) : after);
  return { text: draft, check, lines, changes: changeCount(lines), set };
}

export function PayloadPanel(props: { stored: string; edit: Edit; mayEdit: boolean }): JSX.Element {
  const { stored, edit, mayEdit } = props;
  const hasDraft = edit.text !== null;
  const [wanted, setWanted] = useState<View>(hasDraft ? "edit" : "original");
  const view = mayEdit ? wanted : "original";
  const options = [
    ["original", "Original"],
    ["edit", "Edit"],
    ["changes", "Changes"],
  ] as const;
  return (
    <Panel
      title="Payload"
      sub={<EditTags edit={edit} />}
      {...(mayEdit
        ? {
            aside: (
              <Choice
                label="Show the payload"
                value={view}
                options={options}
                onChange={setWanted}
              />
            ),
          }
        : {})}
    >
      <div class="stack">
        {view === "original" && <Json text={stored} label="Payload" />}
        {view === "edit" && <Editor stored={stored} edit={edit} />}
        {view === "changes" &&
          (edit.changes === 0 ? (
            <p class="sub">
              Nothing is changed yet. The edit is compared with the stored payload here.
            </p>
          ) : (
            <DiffView lines={edit.lines} />
          ))}
        {hasDraft && <DraftFoot edit={edit} />}
      </div>
    </Panel>
  );
}

function EditTags({ edit }: { edit: Edit }): JSX.Element | null {
  if (edit.text === null) return null;
  return (
    <span class="row">
      {edit.changes > 0 && <Tag tone="accent">{plural(edit.changes, "change")}</Tag>}
      {!edit.check.isJson && <Tag tone="bad">Not JSON</Tag>}
    </span>
  );
}

function Editor({ stored, edit }: { stored: string; edit: Edit }): JSX.Element {
  const text = edit.text ?? indented(stored);
  const { check } = edit;
  return (
    <>
      <textarea
        class="field code"
        aria-label="Edited payload"
        aria-invalid={!check.isJson}
        spellcheck={false}
        rows={Math.min(28, Math.max(8, text.split("\n").length + 1))}
        value={text}
        onInput={(event) => edit.set(event.currentTarget.value)}
      />
      <p class={check.isJson ? "sub" : "bad"} role="status">
        {check.isJson
          ? "Valid JSON. The server checks it against the rules of the type when it is sent."
          : `${check.line === null ? "" : `Line ${check.line}: `}${check.message}`}
      </p>
    </>
  );
}

function DraftFoot({ edit }: { edit: Edit }): JSX.Element {
  const warnings = edit.check.isJson ? edit.check.warnings : [];
  return (
    <>
      {warnings.length > 0 && (
        <Note tone="warn" title="This payload would not arrive as it is written">
          {warnings.join(" ")}
        </Note>
      )}
      <div class="row">
        <span class="sub grow">Kept in this tab until it is sent. The letter is not changed.</span>
        <Button kind="quiet" onClick={() => edit.set(null)}>
          Undo changes
        </Button>
      </div>
    </>
  );
}
