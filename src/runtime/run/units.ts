/**
 * `ctx.step` and `ctx.each`: pieces of a run whose ends are stored one by one, so that a later run
 * does not repeat those that ended well.
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

/** What units need to know of their run. */
export interface UnitParts {
  readonly runNotes: RunNotes;
  readonly signal: AbortSignal;
  /** Empty: the job has no phases. */
  readonly phase: string;
  readonly faultOf: (error: unknown) => Fault;
  /** The mark of the phase scope whose context its units have. */
  readonly phaseScope: symbol;
}

/** What was asked of `ctx.each`. */
export interface Many {
  readonly items: Iterable<any>;
  readonly key: (item: any) => string;
  readonly fn: (item: any, unit: Unit) => unknown;
  readonly options: { concurrency?: number; exclusive?: (item: any) => string };
}

interface Unit {
  readonly signal: AbortSignal;
  readonly key: string;
}

export async function step(
  parts: UnitParts,
  name: string,
  fn: (signal: AbortSignal) => unknown,
): Promise<any> {
  insistOn("ctx.step", aKey, name, "the name");
  insistOn("ctx.step", aFunction, fn, "what it does");
  const { runNotes, phase, signal } = parts;
  runNotes.memory.use(phase, [name]);
  await runNotes.recall();
  const known = runNotes.memory.completed(phase, name);
  if (known !== undefined) return decode(known.result);
  runNotes.memory.begin(phase, [name]);
  runNotes.beginUnits([{ phase, unit: name, to: { state: "running" } }]).catch(() => {});
  const { end, error } = await carryOut(parts, name, () => fn(signal), null);
  if (end.state === "failed") throw error;
  return decode(end.result);
}

export async function each(parts: UnitParts, asked: Many): Promise<Units<any>> {
  const { key, fn, options } = asked;
  insistOn("ctx.each", aFunction, key, "the key");
  insistOn("ctx.each", aFunction, fn, "what it does");
  insistOn("ctx.each", OPTIONS, options, "");
  const items = itemsByKey(asked);
  const names = namesOf(asked, items);
  const { runNotes, phase, signal } = parts;
  runNotes.memory.use(phase, [...items.keys()]);
  await runNotes.recall();
  const todo = [...items.keys()].filter(
    (unit) => runNotes.memory.completed(phase, unit) === undefined,
  );
  await begin(parts, todo);
  const places = Math.min(options.concurrency ?? CONCURRENCY_DEFAULT, todo.length);
  const exclusive = names === null ? null : { names, taken: runNotes.names };
  const unitQueue = new UnitQueue({ units: todo, exclusive, signal });
  await sideBySide(parts, unitQueue, places, (unit) => fn(items.get(unit), { signal, key: unit }));
  return answerOf(parts, items.keys());
}

function itemsByKey({ items, key }: Many): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of items) {
    if (found.size === UNITS_MAX) throw tooManyUnits();
    const unit = key(item);
    insistOn("ctx.each", aKey, unit, `the key of item ${found.size}`);
    if (found.has(unit)) throw duplicate(unit, "is there twice");
    found.set(unit, item);
  }
  return found;
}

/** The exclusive name of each unit; null: nobody asked for any. */
function namesOf(
  { options: { exclusive } }: Many,
  items: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> | null {
  if (exclusive === undefined) return null;
  const names = new Map<string, string>();
  for (const [unit, item] of items) {
    const name = exclusive(item);
    insistOn("ctx.each", aKey, name, `the exclusive name of item ${names.size}`);
    names.set(unit, name);
  }
  return names;
}

/** All that will run is in progress from the start, for everybody to see. */
async function begin({ runNotes, phase }: UnitParts, todo: readonly string[]): Promise<void> {
  runNotes.memory.begin(phase, todo);
  for (let from = 0; from < todo.length; from += MOVES_MAX) {
    const chunk = todo.slice(from, from + MOVES_MAX);
    await runNotes.beginUnits(chunk.map((unit) => ({ phase, unit, to: { state: "running" } })));
  }
}

/** A unit that fails stops no other. What ends the run lets those under way end, and no more. */
async function sideBySide(
  parts: UnitParts,
  unitQueue: UnitQueue,
  places: number,
  fn: (unit: string) => unknown,
): Promise<void> {
  const { runNotes, signal } = parts;
  let unwound: { readonly error: unknown } | null = null;
  const place = async (): Promise<void> => {
    try {
      for (
        let unit = await unitQueue.next(null);
        unit !== null;
        unit = await unitQueue.next(unit)
      ) {
        await carryOut(parts, unit, fn, unitQueue.nameOf(unit)).finally(() =>
          unitQueue.leave(unit),
        );
      }
    } catch (error) {
      unwound ??= { error };
      unitQueue.end();
    }
  };
  await Promise.all(Array.from({ length: places }, place));
  const wasCutShort = unwound !== null || unitQueue.hasMore;
  if (!wasCutShort) return;
  if (!signal.aborted) throw errorIn(unwound);
  runNotes.isCutShort = true;
  throw signal.reason;
}

/**
 * One unit to its end, which is stored when this resolves; with it, its children come into being,
 * and the exclusive name that it had is given up. Throws what ends the whole run: a unit that it
 * interrupts has not failed.
 */
async function carryOut(
  { runNotes, phase, signal, faultOf, phaseScope }: UnitParts,
  unit: string,
  fn: (unit: string) => unknown,
  name: string | null,
): Promise<{ readonly end: UnitEnd; readonly error?: unknown }> {
  const children = new Children();
  const ended = async (end: UnitEnd, born: readonly NewJob[]): Promise<UnitEnd> => {
    await runNotes.endUnit({ phase, unit, to: end }, { name, children: born });
    runNotes.memory.end(phase, unit, end);
    return end;
  };
  try {
    const { text } = encodeResult(await runUnit(phaseScope, children, () => fn(unit)));
    await children.complete();
    return { end: await ended({ state: "completed", result: text }, children.end()) };
  } catch (error) {
    children.end();
    if (signal.aborted || isUnwinding(error)) throw error;
    return { end: await ended({ state: "failed", fault: faultOf(error) }, []), error };
  }
}

/** What became of each, in the order asked. */
function answerOf({ runNotes, phase }: UnitParts, units: Iterable<string>): Units<unknown> {
  const completed: { key: string; result: unknown }[] = [];
  const failed: { key: string; error: Fault }[] = [];
  for (const key of units) {
    const end = runNotes.memory.endOf(phase, key);
    if (end?.state === "completed") completed.push({ key, result: decode(end.result) });
    if (end?.state === "failed") failed.push({ key, error: end.fault });
  }
  if (completed.length === 0 && failed.length > 0) throw new AllUnitsFailed(failed);
  return { total: completed.length + failed.length, completed, failed };
}

/** Counts as its parts do: if none of them is worth another try, neither is the whole. */
class AllUnitsFailed extends MillraceError {
  readonly #class: ErrorClass;

  constructor(failed: Units<unknown>["failed"]) {
    const { key = "", error = null } = failed[0] ?? {};
    const count = failed.length === 1 ? "the only unit" : `all ${failed.length} units`;
    super("UNITS_FAILED", `${count} failed; ${shown(key)}: ${error?.message ?? ""}`, {
      details: { failed: failed.length, key },
    });
    const isHopeless = failed.every((unit) => unit.error.class === "non_retryable");
    this.#class = isHopeless ? "non_retryable" : "retryable";
  }

  get "~class"(): ErrorClass {
    return this.#class;
  }
}

/** What ends the run is no failure of the unit in which it was thrown. */
export function isUnwinding(error: unknown): boolean {
  return isInstance(error, Snooze) || isInstance(error, RunOver);
}

function errorIn(unwound: { readonly error: unknown } | null): unknown {
  return unwound?.error;
}

function isConcurrency(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= CONCURRENCY_MAX;
}
