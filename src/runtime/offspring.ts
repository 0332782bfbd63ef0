/**
 * Children that one piece of work asks for by `ctx.enqueue`: a unit, a phase, or a whole run. They
 * come into being with its end, in the same transaction, if it ends well. A unit that has ended is
 * never called again: what it asked for must not wait for an end that another run may bring.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { MillraceError } from "../core/errors.ts";
import type { ErrorClass } from "../core/job.ts";
import type { NewJob } from "../store/store.ts";

const CHILDREN_MAX = 10_000;
/** Text that no database takes well in one transaction. */
const CHARS_MAX = 32_000_000;

export class Offspring {
  #children: NewJob[] = [];
  #chars = 0;
  #isOver = false;

  /** From now on nothing is taken. */
  end(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get children(): readonly NewJob[] {
    return this.#children;
  }

  /** Refuses one that is more than a transaction carries. */
  add(child: NewJob, parentType: string): void {
    const chars = this.#chars + (child.payload?.length ?? 0);
    if (this.#children.length >= CHILDREN_MAX || chars > CHARS_MAX) {
      throw new TooManyChildren(parentType);
    }
    this.#chars = chars;
    this.#children.push(child);
  }
}

/** A unit at work, and the context that its run had when it began. */
interface UnitHere {
  readonly stage: object;
  readonly offspring: Offspring;
}

const unitsHere = new AsyncLocalStorage<UnitHere>();

/** Runs a unit of `stage`, which asks for children of its own. */
export function runUnit<Answer>(unit: UnitHere, work: () => Answer): Answer {
  return unitsHere.run(unit, work);
}

/** What the unit of `stage` asks for below which this code runs, if it does. */
export function offspringHere(stage: object): Offspring | undefined {
  const unit = unitsHere.getStore();
  return unit?.stage === stage ? unit.offspring : undefined;
}

/** Trying again would end the same way. */
class TooManyChildren extends MillraceError {
  constructor(type: string) {
    super(
      "CHILDREN_TOO_MANY",
      `job "${type}": a phase, a unit, or a run without phases has at most ${CHILDREN_MAX} ` +
        `children by ctx.enqueue, with payloads of at most ${CHARS_MAX / 1_000_000} MB together, ` +
        "because they come into being with its end, all at once; enqueue more with " +
        "mill.enqueueMany, in batches",
      { details: { type, max: CHILDREN_MAX, maxChars: CHARS_MAX } },
    );
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}
