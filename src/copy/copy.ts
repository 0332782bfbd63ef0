/**
 * Moves an installation: copies what is written once while the workers go on, fences the source,
 * mends what has changed meanwhile, copies the rest, compares both ends, and only then lets anybody
 * into the target. Every batch is one transaction together with the progress, so that the same
 * command goes on after a death at any point.
 */
import type { Dice } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { defaults } from "../core/presets.ts";
import { settle } from "../core/settle.ts";
import { COPIED_TABLES, FINISHED } from "../store/shared/copy-tables.ts";
import type {
  CopiedTable,
  CopySource,
  CopyTarget,
  CopyProgress,
  KeyRange,
} from "../store/shared/copy-tables.ts";
import { compare, type Comparison } from "./compare.ts";

const ID_BYTES = 16;

/** What a copy tells while it goes on. It has taken effect. */
export type CopyNews =
  /** So many rows are there from before, in tables that are through. */
  | { readonly kind: "begun"; readonly rows: number }
  | { readonly kind: "copied" | "mended"; readonly table: string; readonly rows: number }
  | { readonly kind: "fenced"; readonly runs: number }
  | { readonly kind: "comparing" };

export interface CopyParts {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly dice: Dice;
  readonly tell: (news: CopyNews) => void;
}

/**
 * - `ahead`: copy while the source lives.
 * - `fence`: nobody writes to the source any more.
 * - `mend`: compare the keys of what was copied ahead, and add and remove what differs.
 * - `copy`: copy from a source that stands still.
 * - `compare`: everything is there.
 */
type Step =
  | { readonly stage: "fence" | "compare" }
  | { readonly stage: "ahead" | "mend" | "copy"; readonly table: CopiedTable };

type TableStep = Extract<Step, { readonly table: CopiedTable }>;

const WRITTEN_ONCE = COPIED_TABLES.filter(({ isWrittenOnce }) => isWrittenOnce);
const CHANGING = COPIED_TABLES.filter(({ isWrittenOnce }) => !isWrittenOnce);
const STEPS: readonly Step[] = [
  ...WRITTEN_ONCE.map((table) => ({ stage: "ahead", table }) as const),
  { stage: "fence" },
  ...WRITTEN_ONCE.map((table) => ({ stage: "mend", table }) as const),
  ...CHANGING.map((table) => ({ stage: "copy", table }) as const),
  { stage: "compare" },
];

/** What a step is called in the progress. */
function nameOf(step: Step | undefined): string {
  if (step === undefined) return FINISHED;
  return "table" in step ? `${step.stage} ${step.table.name}` : step.stage;
}

/**
 * Begins a copy, or goes on with it. The target is open when all comparisons are equal, and else
 * stays closed. Null: it has been finished before.
 */
export async function copyStore(parts: CopyParts): Promise<readonly Comparison[] | null> {
  const { source, target, tell } = parts;
  const progress = await target.begin(firstProgress(parts));
  checkOrigin(parts, progress);
  if (progress.step === FINISHED) return null;

  const at = STEPS.findIndex((step) => nameOf(step) === progress.step);
  tell({ kind: "begun", rows: rowsIn(source, STEPS.slice(0, at)) });
  for (const [index, step] of STEPS.slice(at).entries()) {
    await take(parts, step, { ...progress, after: index === 0 ? progress.after : null });
  }
  await target.setCounters(source.counters());

  tell({ kind: "comparing" });
  const comparisons = await compare(source, target);
  // Somebody may have let the source go on in the meantime.
  checkOrigin(parts, { ...progress, step: nameOf(STEPS.at(-1)) });
  if (comparisons.every(({ isEqual }) => isEqual)) await target.finish();
  return comparisons;
}

function rowsIn(source: CopySource, steps: readonly Step[]): number {
  const tables = steps.flatMap((step) =>
    step.stage === "ahead" || step.stage === "copy" ? [step.table] : [],
  );
  return tables.reduce((sum, table) => sum + source.count(table), 0);
}

async function take(parts: CopyParts, step: Step, progress: CopyProgress): Promise<void> {
  switch (step.stage) {
    case "fence":
      return fence(parts, progress.copy);
    case "mend":
      return mend(parts, step, progress);
    case "ahead":
    case "copy":
      return copyTable(parts, step, progress);
    case "compare":
  }
}

/** Gives an unfinished copy up: the target is emptied, and the source is let go on. */
export async function abandonCopy({ source, target }: CopyParts): Promise<void> {
  const state = await target.readState();
  if (state.kind === "unfinished") checkFrom(source, target, state.progress);
  const mark = source.moveRecord();
  const isOwn = state.kind === "unfinished" && state.progress.copy === mark?.copy;
  // Also a target that was emptied before, by an attempt that died then.
  if (mark !== null && !isOwn && mark.to !== target.place) {
    const message = `${source.place} has moved to ${mark.to}, and not to ${target.place}`;
    throw new MillraceError("STORE_MOVED", message);
  }
  // First: a copy that goes on must never meet a source that went on without it.
  await target.abandon();
  if (mark !== null) source.unblockWrites();
}

function firstProgress({ source, dice }: CopyParts): CopyProgress {
  const copy = Buffer.from(dice.bytes(ID_BYTES)).toString("hex");
  return { copy, from: source.place, step: nameOf(STEPS[0]), after: null };
}

/** What was begun must go on from the same source, and that must not have gone on by itself. */
function checkOrigin({ source, target }: CopyParts, { copy, from, step }: CopyProgress): void {
  checkFrom(source, target, { copy, from, step, after: null });
  const mark = source.moveRecord();
  if (mark !== null && mark.copy !== copy) {
    throw new MillraceError("STORE_MOVED", `${source.place} has already moved to ${mark.to}`);
  }
  if (mark !== null || /^(ahead|fence)/.test(step)) return;
  const message =
    step === FINISHED
      ? `${target.place} holds an earlier copy, and ${source.place} has gone on since`
      : `${source.place} has gone on since it was fenced: abandon the copy and begin anew`;
  throw new MillraceError("STORE_OCCUPIED", message);
}

function checkFrom({ place }: CopySource, target: CopyTarget, { from }: CopyProgress): void {
  if (from === place) return;
  const message = `${target.place} holds a copy of ${from}, and not of ${place}`;
  throw new MillraceError("STORE_OCCUPIED", message);
}

/** A move is not the jobs' fault: what runs is given back as in a deploy. */
async function fence({ source, target, tell }: CopyParts, copy: string): Promise<void> {
  if (source.moveRecord() !== null) return;
  const context = { policy: defaults.retry, random: 0 };
  const runs = await source.blockWrites({ to: target.place, copy }, (facts) =>
    settle(facts, { type: "interrupted" }, context),
  );
  tell({ kind: "fenced", runs });
}

async function copyTable(
  { source, target, tell }: CopyParts,
  step: TableStep,
  progress: CopyProgress,
): Promise<void> {
  const { table } = step;
  const next = nameOf(STEPS[STEPS.indexOf(step) + 1]);
  for (let { after } = progress; ;) {
    const batch = source.batch(table, after);
    after = batch.upTo;
    const reached = { ...progress, step: after === null ? next : nameOf(step), after };
    await target.put(table, { lines: batch.lines, without: [] }, reached);
    tell({ kind: "copied", table: table.name, rows: batch.lines.length });
    if (after === null) return;
  }
}

/** Rows that are written once are the same if their keys are. */
async function mend(parts: CopyParts, step: TableStep, progress: CopyProgress): Promise<void> {
  const { source, target } = parts;
  const { table } = step;
  for (let { after } = progress; ;) {
    const here = source.keys(table, after);
    const isEqual = here.text === (await target.keys(table, here));
    const reached = { ...progress, step: nameOf(step), after };
    const { upTo } = isEqual ? here : await mendNext(parts, table, reached);
    if (upTo === null) return;
    after = upTo;
  }
}

/** Makes the next rows the same. Answers how far that goes. */
async function mendNext(
  { source, target, tell }: CopyParts,
  table: CopiedTable,
  progress: CopyProgress,
): Promise<KeyRange> {
  const batch = source.batch(table, progress.after);
  const found = await target.keys(table, batch);
  const there = new Set(found === "" ? [] : found.split(","));
  const lines = batch.lines.filter((_, index) => !there.has(batch.keys[index] ?? ""));
  for (const key of batch.keys) there.delete(key);
  if (lines.length + there.size > 0) {
    await target.put(table, { lines, without: [...there] }, progress);
    tell({ kind: "mended", table: table.name, rows: lines.length });
  }
  return batch;
}
