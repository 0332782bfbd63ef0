/**
 * Moves an installation: copies the tables that are written once while the workers run, blocks
 * writes to the source, reconciles rows that have changed meanwhile, copies the other tables,
 * compares both stores, and then opens the target. Every batch is stored with the progress in one
 * transaction, so that the same command continues after a crash at any point.
 */
import type { Dice } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { defaults } from "../core/presets.ts";
import { settle } from "../core/settle.ts";
import { COPIED_TABLES } from "../store/shared/copy/tables.ts";
import { FINISHED } from "../store/shared/copy/ends.ts";
import type { CopiedTable } from "../store/shared/copy/tables.ts";
import type { CopySource, CopyTarget, CopyProgress, KeyRange } from "../store/shared/copy/ends.ts";
import { compare, type Comparison } from "./compare.ts";

const ID_BYTES = 16;

/** The progress of a copy. Events are reported after they have taken effect. */
export type CopyEvent =
  /** `rows` were copied before, in the tables that are complete. */
  | { readonly kind: "started"; readonly rows: number }
  | { readonly kind: "copied" | "reconciled"; readonly table: string; readonly rows: number }
  | { readonly kind: "writes-blocked"; readonly runs: number }
  | { readonly kind: "comparing" };

export interface CopyParts {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly dice: Dice;
  readonly report: (event: CopyEvent) => void;
}

/**
 * - `ahead`: copy while workers write to the source.
 * - `block-writes`: make the source refuse writes.
 * - `reconcile`: compare the keys of the rows that were copied ahead, and add and remove rows.
 * - `copy`: copy from a source that no longer changes.
 * - `compare`: all rows are copied.
 */
type CopyStep =
  | { readonly stage: "block-writes" | "compare" }
  | { readonly stage: "ahead" | "reconcile" | "copy"; readonly table: CopiedTable };

type CopyTableStep = Extract<CopyStep, { readonly table: CopiedTable }>;

const WRITTEN_ONCE = COPIED_TABLES.filter(({ isWrittenOnce }) => isWrittenOnce);
const CHANGING = COPIED_TABLES.filter(({ isWrittenOnce }) => !isWrittenOnce);
const STEPS: readonly CopyStep[] = [
  ...WRITTEN_ONCE.map((table) => ({ stage: "ahead", table }) as const),
  { stage: "block-writes" },
  ...WRITTEN_ONCE.map((table) => ({ stage: "reconcile", table }) as const),
  ...CHANGING.map((table) => ({ stage: "copy", table }) as const),
  { stage: "compare" },
];

/** The name of a step in the stored progress. */
function nameOf(step: CopyStep | undefined): string {
  if (step === undefined) return FINISHED;
  return "table" in step ? `${step.stage} ${step.table.name}` : step.stage;
}

/**
 * Starts a copy, or continues one. The target is opened if all comparisons are equal, and stays
 * closed otherwise. Returns `null` if the copy was finished before.
 */
export async function copyStore(parts: CopyParts): Promise<readonly Comparison[] | null> {
  const { source, target, report } = parts;
  const progress = await target.begin(firstProgress(parts));
  checkOrigin(parts, progress);
  if (progress.step === FINISHED) return null;

  const at = STEPS.findIndex((step) => nameOf(step) === progress.step);
  report({ kind: "started", rows: rowsIn(source, STEPS.slice(0, at)) });
  for (const [index, step] of STEPS.slice(at).entries()) {
    await take(parts, step, { ...progress, after: index === 0 ? progress.after : null });
  }
  await target.setCounters(source.counters());

  report({ kind: "comparing" });
  const comparisons = await compare(source, target);
  // Another process may have abandoned the copy in the meantime.
  checkOrigin(parts, { ...progress, step: nameOf(STEPS.at(-1)) });
  if (comparisons.every(({ isEqual }) => isEqual)) await target.finish();
  return comparisons;
}

function rowsIn(source: CopySource, steps: readonly CopyStep[]): number {
  const tables = steps.flatMap((step) =>
    step.stage === "ahead" || step.stage === "copy" ? [step.table] : [],
  );
  return tables.reduce((sum, table) => sum + source.count(table), 0);
}

async function take(parts: CopyParts, step: CopyStep, progress: CopyProgress): Promise<void> {
  switch (step.stage) {
    case "block-writes":
      return blockWrites(parts, progress.copy);
    case "reconcile":
      return reconcile(parts, step, progress);
    case "ahead":
    case "copy":
      return copyTable(parts, step, progress);
    case "compare":
  }
}

/** Abandons an unfinished copy: empties the target and unblocks writes to the source. */
export async function abandonCopy({ source, target }: CopyParts): Promise<void> {
  const state = await target.readState();
  if (state.kind === "unfinished") checkFrom(source, target, state.progress);
  const mark = source.moveRecord();
  const isOwn = state.kind === "unfinished" && state.progress.copy === mark?.copy;
  // The target may have been emptied before, by an attempt that crashed after that.
  if (mark !== null && !isOwn && mark.to !== target.place) {
    const message = `${source.place} has moved to ${mark.to}, not to ${target.place}`;
    throw new MillraceError("STORE_MOVED", message);
  }
  // The target first, because a copy must never continue from a source that has changed.
  await target.abandon();
  if (mark !== null) source.unblockWrites();
}

function firstProgress({ source, dice }: CopyParts): CopyProgress {
  const copy = Buffer.from(dice.bytes(ID_BYTES)).toString("hex");
  return { copy, from: source.place, step: nameOf(STEPS[0]), after: null };
}

/** A copy must continue from the same source, whose writes must still be blocked. */
function checkOrigin({ source, target }: CopyParts, { copy, from, step }: CopyProgress): void {
  checkFrom(source, target, { copy, from, step, after: null });
  const mark = source.moveRecord();
  if (mark !== null && mark.copy !== copy) {
    throw new MillraceError("STORE_MOVED", `${source.place} has already moved to ${mark.to}`);
  }
  if (mark !== null || /^(ahead|block-writes)/.test(step)) return;
  const message =
    step === FINISHED
      ? `${target.place} holds a finished copy, and ${source.place} accepts writes again`
      : `${source.place} accepts writes again: abandon the copy and start it again`;
  throw new MillraceError("STORE_OCCUPIED", message);
}

function checkFrom({ place }: CopySource, target: CopyTarget, { from }: CopyProgress): void {
  if (from === place) return;
  const message = `${target.place} holds a copy of ${from}, not of ${place}`;
  throw new MillraceError("STORE_OCCUPIED", message);
}

/** Running jobs are returned to the queue as in a deploy, without a charged attempt. */
async function blockWrites({ source, target, report }: CopyParts, copy: string): Promise<void> {
  if (source.moveRecord() !== null) return;
  const context = { policy: defaults.retry, random: 0 };
  const runs = await source.blockWrites({ to: target.place, copy }, (facts) =>
    settle(facts, { type: "interrupted" }, context),
  );
  report({ kind: "writes-blocked", runs });
}

async function copyTable(
  { source, target, report }: CopyParts,
  step: CopyTableStep,
  progress: CopyProgress,
): Promise<void> {
  const { table } = step;
  const next = nameOf(STEPS[STEPS.indexOf(step) + 1]);
  for (let { after } = progress; ;) {
    const batch = source.batch(table, after);
    after = batch.upTo;
    const reached = { ...progress, step: after === null ? next : nameOf(step), after };
    await target.put(table, { lines: batch.lines, without: [] }, reached);
    report({ kind: "copied", table: table.name, rows: batch.lines.length });
    if (after === null) return;
  }
}

/** Compares keys only: rows that are written once are equal if their keys are. */
async function reconcile(
  parts: CopyParts,
  step: CopyTableStep,
  progress: CopyProgress,
): Promise<void> {
  const { source, target } = parts;
  const { table } = step;
  for (let { after } = progress; ;) {
    const here = source.keys(table, after);
    const isEqual = here.text === (await target.keys(table, here));
    const reached = { ...progress, step: nameOf(step), after };
    const { upTo } = isEqual ? here : await reconcileNext(parts, table, reached);
    if (upTo === null) return;
    after = upTo;
  }
}

/** Makes the next rows equal. Returns the range of these rows. */
async function reconcileNext(
  { source, target, report }: CopyParts,
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
    report({ kind: "reconciled", table: table.name, rows: lines.length });
  }
  return batch;
}
