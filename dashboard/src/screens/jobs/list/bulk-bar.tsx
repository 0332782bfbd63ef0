/** What can be done to the chosen rows, or to all jobs that match. */
import type { JSX } from "preact";
import { copyText } from "../../../lib/copy.ts";
import { numberText } from "../../../lib/format.ts";
import { toast } from "../../../lib/toasts.ts";
import { Button, Choice } from "../../../parts/basics.tsx";
import { actOnAll, actOnChosen, mayAct, type Action } from "../act.tsx";
import type { BulkFilter } from "./job-query.ts";

export interface BulkProps {
  readonly ids: readonly string[];
  /** All jobs that match are meant, not the rows. */
  readonly isAll: boolean;
  readonly setAll: (isAll: boolean) => void;
  /** `10,000+`; null: not counted yet. */
  readonly total: string | null;
  /** The filter of an operation; null: an operation cannot have it. */
  readonly filter: BulkFilter | null;
  readonly clear: () => void;
  readonly ended: () => void;
}

/** Acts on what is chosen. */
export function act(action: Action, { ids, isAll, filter, ended, clear }: BulkProps): void {
  const finish = (): void => {
    clear();
    ended();
  };
  if (isAll && filter !== null) void actOnAll(action, filter, finish);
  else if (ids.length > 0) actOnChosen(action, ids, finish);
}

export function BulkBar(props: BulkProps): JSX.Element | null {
  const { ids, isAll, setAll, total, filter, clear } = props;
  if (ids.length === 0) return null;
  const canAll = filter !== null && Object.keys(filter).length > 0 && mayAct("retry", true);
  const button = (action: Action, text: string, more: object = {}): JSX.Element | false =>
    mayAct(action, isAll) && (
      <Button key={action} onClick={() => act(action, props)} {...more}>
        {text}
      </Button>
    );
  return (
    <div class="jobs-bulk" role="region" aria-label="Selection">
      {canAll ? (
        <Choice
          label="Which jobs"
          value={isAll ? "all" : "chosen"}
          options={[
            ["chosen", `${numberText(ids.length)} selected`],
            ["all", `All ${total ?? ""} matching`],
          ]}
          onChange={(which) => setAll(which === "all")}
        />
      ) : (
        <b class="sel">{numberText(ids.length)} selected</b>
      )}
      {button("retry", "Retry…", { kind: "primary", icon: "retry", keycap: "r" })}
      {button("cancel", "Cancel…", { kind: "danger", keycap: "c" })}
      {button("priority", "Priority…")}
      {button("delete", "Delete…", { kind: "danger" })}
      {!isAll && (
        <Button icon="copy" onClick={() => void copyIds(ids)}>
          Copy ids
        </Button>
      )}
      <Button kind="quiet" icon="close" label="Clear selection" onClick={clear} />
    </div>
  );
}

async function copyIds(ids: readonly string[]): Promise<void> {
  const isDone = await copyText(ids.join("\n"));
  if (isDone) toast({ tone: "good", title: `Copied ${numberText(ids.length)} ids` });
  else toast({ tone: "bad", title: "The browser has refused to copy" });
}
