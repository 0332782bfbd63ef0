/**
 * `ctx.step` and `ctx.each`: units of a run. The result of each unit is stored by itself, so that a
 * later run does not repeat completed units.
 */
import { aText, insistOn } from "../../jobs/check-text.ts";
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import { decode, encodeResult } from "../../core/payload.ts";
import { shown } from "../../core/text.ts";
import type { Units } from "../../api/context.ts";
import { aFunction, anObject, must } from "../../api/rules.ts";
import { isInstance } from "../../lib/is-instance.ts";
import { MOVES_MAX, UNITS_MAX, type UnitEnd } from "../../store/types/notes.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";
import { RunOver, type RunNotes } from "../notes/run-notes.ts";
import { duplicate, tooManyUnits } from "../notes/checkpoints.ts";
import { Children, runUnit } from "./children.ts";
import { UnitQueue } from "./unit-queue.ts";
import { Snooze } from "./snooze.ts";

const KEY_LENGTH_MAX = 500;
const CONCURRENCY_DEFAULT = 10;
const CONCURRENCY_MAX = 1_000;

const PLANNED = { state: "planned" } as const;
const RUNNING = { state: "running" } as const;

const aKey = aText(KEY_LENGTH_MAX);
const OPTIONS = anObject(
  {
    required: {},
    optional: {
      concurrency: must(isConcurrency, `a whole number from 1 to ${CONCURRENCY_MAX}`),
      exclusive: aFunction,
    },
  },
  "an object such as { concurrency: 8 }",
);

/** What units use of their run. */
export interface UnitParts {
  readonly runNotes: RunNotes;
  /** The signal of the handler. */
  readonly signal: AbortSignal;
  /** The signal of the run: an expired lease does not abort it. */
  readonly runSignal: AbortSignal;
  /** Whether an error is an effect of the interruption of the run. */
  readonly isInterrupted: (error: unknown) => boolean;
  /** Empty if the job has no phases. */
  readonly phase: string;
  readonly faultOf: (error: unknown) => Fault;
  /** Identifies the phase scope of the units. */
  readonly phaseScope: symbol;
  /** Units whose function is running. */
  readonly running: Set<string>;
  /** Throws if the phase or the run has ended. */
  readonly insistOpen: (verb: string) => void;
}

/** The arguments of `ctx.each`. */
export interface EachRequest {
  readonly items: Iterable<any>;
  readonly key: (item: any) => string;
  readonly fn: (item: any, unit: UnitContext) => unknown;
  readonly options: { concurrency?: number; exclusive?: (item: any) => string };
}

interface UnitContext {
  readonly signal: AbortSignal;
  readonly key: string;
}

export async function step(
  parts: UnitParts,
  name: string,
  fn: (signal: AbortSignal) => unknown,
): Promise<any> {
  parts.insistOpen("ctx.step");
  insistOn("ctx.step", aKey, name, "the name");
  insistOn("ctx.step", aFunction, fn, "the function");
  const { runNotes, phase, signal } = parts;
  const turn = runNotes.checkpoints.reserve(phase, [name]);
  await runNotes.loadCheckpoints();
  const known = runNotes.checkpoints.completed(phase, name);
  if (known !== undefined) return decode(known.result);
  // Again, because the run may have ended while the checkpoints were read.
  parts.insistOpen("ctx.step");
  runNotes.checkpoints.begin(phase, [name]);
  runNotes.moveUnits([{ phase, unit: name, turn, to: RUNNING }]).catch(() => {});
  const { end, error } = await carryOut(parts, { unit: name, lock: null }, () => fn(signal));
  if (end.state === "failed") throw error;
  return decode(end.result);
}

export async function each(parts: UnitParts, request: EachRequest): Promise<Units<any>> {
  const { key, fn, options } = request;
  parts.insistOpen("ctx.each");
  insistOn("ctx.each", aFunction, key, "the key");
  insistOn("ctx.each", aFunction, fn, "the function");
  insistOn("ctx.each", OPTIONS, options, "");
  const items = itemsByKey(request);
  const names = locksOf(request, items);
  const { runNotes, phase, signal, runSignal } = parts;
  const first = runNotes.checkpoints.reserve(phase, [...items.keys()]);
  await runNotes.loadCheckpoints();
  parts.insistOpen("ctx.each");
  const todo = [...items.keys()]
    .map((unit, index): PlannedUnit => ({ unit, turn: first + index }))
    .filter(({ unit }) => runNotes.checkpoints.completed(phase, unit) === undefined);
  const concurrency = Math.min(options.concurrency ?? CONCURRENCY_DEFAULT, todo.length);
  await plan(parts, todo, names === null ? concurrency : 0);
  runNotes.countUnits(phase, { total: items.size, ended: items.size - todo.length });
  const locks = names === null ? null : { names, runLocks: runNotes.locks };
  const units = todo.map(({ unit }) => unit);
  const unitQueue = new UnitQueue({ units, locks, signal: runSignal });
  await runConcurrently(parts, unitQueue, concurrency, (unit) =>
    fn(items.get(unit), { signal, key: unit }),
  );
  return resultsOf(parts, items.keys());
}

function itemsByKey({ items, key }: EachRequest): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of items) {
    if (found.size === UNITS_MAX) throw tooManyUnits();
    const unit = key(item);
    insistOn("ctx.each", aKey, unit, `the key of item ${found.size}`);
    if (found.has(unit)) throw duplicate(unit, "occurs twice");
    found.set(unit, item);
  }
  return found;
}

/** The lock of each unit; null: the units need no lock. */
function locksOf(
  { options: { exclusive } }: EachRequest,
  items: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> | null {
  if (exclusive === undefined) return null;
  const names = new Map<string, string>();
  for (const [unit, item] of items) {
    const name = exclusive(item);
    insistOn("ctx.each", aKey, name, `the exclusive key of item ${names.size}`);
    names.set(unit, name);
  }
  return names;
}

/** A unit with its position in the phase. */
interface PlannedUnit {
  readonly unit: string;
  readonly turn: number;
}

/**
 * All units that will run are stored first, so that operators see them. The first units start at
 * once; of each other unit, the start is stored before its function is called.
 */
async function plan(
  { runNotes, phase }: UnitParts,
  todo: readonly PlannedUnit[],
  starting: number,
): Promise<void> {
  runNotes.checkpoints.begin(
    phase,
    todo.map(({ unit }) => unit),
  );
  for (let from = 0; from < todo.length; from += MOVES_MAX) {
    const moves = todo.slice(from, from + MOVES_MAX).map(({ unit, turn }, index) => {
      return { phase, unit, turn, to: from + index < starting ? RUNNING : PLANNED };
    });
    await runNotes.moveUnits(moves);
  }
}

/** The first error that ended `ctx.each`. */
interface Unwinding {
  readonly error: unknown;
}

function hasInterrupted({ isInterrupted }: UnitParts, unwinding: Unwinding | null): boolean {
  return unwinding !== null && isInterrupted(unwinding.error);
}

/**
 * A failed unit does not stop other units. When the run is to end, running units end and no other
 * unit begins.
 */
async function runConcurrently(
  parts: UnitParts,
  unitQueue: UnitQueue,
  concurrency: number,
  fn: (unit: string) => unknown,
): Promise<void> {
  const { runNotes, signal, runSignal } = parts;
  let unwinding: Unwinding | null = null;
  const runUnits = async (): Promise<void> => {
    try {
      let unit = await unitQueue.next(null);
      while (unit !== null) unit = await runNext(parts, unitQueue, unit, fn);
    } catch (error) {
      unwinding ??= { error };
      unitQueue.end();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runUnits));
  const wasCutShort = unwinding !== null || unitQueue.hasMore;
  if (!wasCutShort) return;
  if (!runSignal.aborted && !hasInterrupted(parts, unwinding)) throw errorIn(unwinding);
  runNotes.isCutShort = true;
  throw signal.reason;
}

/**
 * Runs a unit that has begun, and answers the next one. Without locks the next unit is known when
 * this one ends, and its start is stored in the same note: it costs no call to the store.
 */
async function runNext(
  parts: UnitParts,
  unitQueue: UnitQueue,
  unit: string,
  fn: (unit: string) => unknown,
): Promise<string | null> {
  const { runNotes, phase } = parts;
  const lock = unitQueue.lockOf(unit);
  let next: string | null = null;
  const reserveNext = (): string | null => (next ??= unitQueue.reserve());
  try {
    if (unitQueue.hasLocks) await runNotes.moveUnits([{ phase, unit, to: RUNNING }]);
    await carryOut(parts, { unit, lock, reserveNext }, fn);
    runNotes.countUnits(phase, { ended: 1 });
  } finally {
    unitQueue.release(unit);
  }
  return unitQueue.hasLocks ? unitQueue.next(unit) : unitQueue.begin(next);
}

interface UnitToRun {
  readonly unit: string;
  readonly lock: string | null;
  /** The unit that starts when this one ends. */
  readonly reserveNext?: () => string | null;
}

/**
 * Runs one unit. When the promise resolves, the result of the unit is stored, its children are
 * enqueued and its lock is released, in one transaction. Throws errors that end the whole run: an
 * interrupted unit has not failed.
 */
async function carryOut(
  { runNotes, phase, runSignal, isInterrupted, faultOf, phaseScope, running }: UnitParts,
  { unit, lock, reserveNext }: UnitToRun,
  fn: (unit: string) => unknown,
): Promise<{ readonly end: UnitEnd; readonly error?: unknown }> {
  const children = new Children();
  const store = async (end: UnitEnd, jobs: readonly NewJob[]): Promise<UnitEnd> => {
    const next = reserveNext?.() ?? null;
    const start = next === null ? [] : [{ phase, unit: next, to: RUNNING }];
    await runNotes.endUnit([{ phase, unit, to: end }, ...start], { lock, children: jobs });
    runNotes.checkpoints.end(phase, unit, end);
    return end;
  };
  running.add(unit);
  try {
    const { text } = encodeResult(await runUnit(phaseScope, children, () => fn(unit)));
    await children.complete();
    return { end: await store({ state: "completed", result: text }, children.end()) };
  } catch (error) {
    children.end();
    if (runSignal.aborted || isInterrupted(error) || isUnwinding(error)) throw error;
    return { end: await store({ state: "failed", fault: faultOf(error) }, []), error };
  } finally {
    running.delete(unit);
  }
}

/** The result of each unit, in the order of the items. */
function resultsOf({ runNotes, phase }: UnitParts, units: Iterable<string>): Units<unknown> {
  const completed: { key: string; result: unknown }[] = [];
  const failed: { key: string; error: Fault }[] = [];
  for (const key of units) {
    const end = runNotes.checkpoints.endOf(phase, key);
    if (end?.state === "completed") completed.push({ key, result: decode(end.result) });
    if (end?.state === "failed") failed.push({ key, error: end.fault });
  }
  if (completed.length === 0 && failed.length > 0) throw new AllUnitsFailed(failed);
  return { total: completed.length + failed.length, completed, failed };
}

/** Not retryable if no failed unit is retryable. */
class AllUnitsFailed extends MillraceError {
  readonly #class: ErrorClass;

  constructor(failed: Units<unknown>["failed"]) {
    const { key = "", error = null } = failed[0] ?? {};
    const count = failed.length === 1 ? "the only unit" : `all ${failed.length} units`;
    super("UNITS_FAILED", `${count} failed; ${shown(key)}: ${error?.message ?? ""}`, {
      details: { failed: failed.length, key },
    });
    const isFinal = failed.every((unit) => unit.error.class === "non_retryable");
    this.#class = isFinal ? "non_retryable" : "retryable";
  }

  get "~class"(): ErrorClass {
    return this.#class;
  }
}

/** Errors that end the whole run are no failure of the unit that threw them. */
export function isUnwinding(error: unknown): boolean {
  return isInstance(error, Snooze) || isInstance(error, RunOver);
}

function errorIn(unwinding: { readonly error: unknown } | null): unknown {
  return unwinding?.error;
}

function isConcurrency(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= CONCURRENCY_MAX;
}
