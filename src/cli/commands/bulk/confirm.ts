/** Shows what an action on many jobs or dead letters would change, and asks before it begins. */
import type { OperationPreview } from "../../../api/control/operations.ts";
import { systemClock } from "../../../lib/system.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import { ageOf, errorOf, table } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Above so many items, the count has to be typed. */
const TYPED_ABOVE = 1_000;

export function previewText(preview: OperationPreview): string {
  const { action, skipped } = preview;
  const left = Object.entries(skipped).map(([reason, count]) => `${count} (${reason})`);
  const rest = left.length === 0 ? "" : ` Not changed by ${action}: ${left.join(", ")}.`;
  const sample = sampleOf(preview);
  const shown = sample === "" ? "" : `The newest of them:\n${sample}`;
  return `${action} would change ${countOf(preview)}.${rest}\n${shown}`;
}

function countOf({ count, atLeast, action }: OperationPreview): string {
  const isLetters = ["reprocess", "discard", "acknowledge"].includes(action);
  const noun = isLetters ? "dead letter" : "job";
  return `${atLeast ? "more than " : ""}${count} ${noun}${count === 1 && !atLeast ? "" : "s"}`;
}

function sampleOf({ jobs, deadLetters }: OperationPreview): string {
  const now = systemClock.now();
  if (jobs.length > 0) {
    const rows = jobs.map(({ id, type, state, tenant, createdAt, error }) => {
      return [id, type, state, tenant, ageOf(createdAt, now), errorOf(error)];
    });
    return table(["ID", "TYPE", "STATE", "TENANT", "AGE", "ERROR"], rows);
  }
  if (deadLetters.length === 0) return "";
  const rows = deadLetters.map(({ id, type, status, tenant, diedAt, error }) => {
    return [id, type, status, tenant, ageOf(diedAt, now), errorOf(error)];
  });
  return table(["ID", "TYPE", "STATUS", "TENANT", "AGE", "ERROR"], rows);
}

/** Answers whether the operation may begin. Without a terminal, only `--yes` allows it. */
export async function confirmed(
  preview: OperationPreview,
  terminal: Terminal,
  isAllowed: boolean,
): Promise<boolean> {
  if (isAllowed) return true;
  const { ask } = terminal;
  if (ask === undefined) {
    throw new CommandFailure(`${preview.action} would change ${countOf(preview)}.`, {
      hint: "Add --yes to begin without a question, or --dry-run to change nothing.",
      exitCode: EXIT.usage,
    });
  }
  const { count, atLeast, action } = preview;
  if (count <= TYPED_ABOVE) {
    const answer = await ask(`${action} ${countOf(preview)}? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  }
  const words = atLeast ? `${count} (there are more)` : String(count);
  const answer = await ask(`Type the count, ${words}, to ${action} all of them: `);
  return answer.trim().replaceAll(/[,_ ]/g, "") === String(count);
}
