/** Finds out what a copy would do, and which problems it would meet. Writes nothing. */
import { MillraceError } from "../core/errors.ts";
import { COPIED_TABLES } from "../store/shared/copy/tables.ts";
import type { CopySource, CopyTarget, TargetState } from "../store/shared/copy/ends.ts";

export interface Rehearsal {
  readonly bytes: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly problems: readonly string[];
  /** True when the target holds an unfinished copy, which would continue. */
  readonly isContinued: boolean;
}

export async function rehearseCopy(source: CopySource, target: CopyTarget): Promise<Rehearsal> {
  const state = await lookAt(target);
  const isContinued = state.kind === "unfinished" && state.progress.from === source.place;
  return {
    bytes: source.bytes,
    tables: COPIED_TABLES.map((table) => ({ name: table.name, rows: source.count(table) })),
    problems: [
      ...problemsOfTarget(state, isContinued),
      ...problemsOfMark(source, state),
      ...COPIED_TABLES.flatMap((table) => source.problems(table)),
    ],
    isContinued,
  };
}

async function lookAt(target: CopyTarget): Promise<TargetState> {
  try {
    return await target.readState();
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return { kind: "occupied", why: error.message };
  }
}

function problemsOfTarget(state: TargetState, isContinued: boolean): string[] {
  if (state.kind === "occupied") return [`the target: ${state.why}`];
  if (state.kind === "free" || isContinued) return [];
  const words = state.kind === "finished" ? "a finished copy" : "an unfinished copy";
  return [`the target holds ${words} of ${state.progress.from}`];
}

function problemsOfMark(source: CopySource, state: TargetState): string[] {
  const mark = source.moveRecord();
  const isOurs = "progress" in state && state.progress.copy === mark?.copy;
  return mark === null || isOurs ? [] : [`${source.place} has already moved to ${mark.to}`];
}
