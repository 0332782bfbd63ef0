/**
 * Children that one piece of work asks for by `ctx.enqueue`: a unit, a phase, or a whole run. They
 * come into being with its end, in the same transaction, if it ends well. A unit that has ended is
 * never called again: what it asked for must not wait for an end that another run may bring.
 */
import { pieceHere, runPiece } from "../../jobs/async-context.ts";
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";

const CHILDREN_MAX = 10_000;
/** Text that no database takes well in one transaction. */
const CHARS_MAX = 32_000_000;

export class Children {
  #children: NewJob[] = [];
  #chars = 0;
  #isOver = false;
  /** Requests that are not made yet. */
  readonly #pending = new Set<Promise<unknown>>();

  get isOver(): boolean {
    return this.#isOver;
  }

  get children(): readonly NewJob[] {
    return this.#children;
  }

  /** It does not end before that is through. */
  expect(request: Promise<unknown>): void {
    const through = request.then(nothing, nothing).then(() => void this.#pending.delete(through));
    this.#pending.add(through);
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

  /** Resolves when all that was asked for is there. */
  async complete(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** From now on nothing is taken, and nothing kept in memory. Answers what was asked for. */
  end(): readonly NewJob[] {
    this.#isOver = true;
    return this.#children.splice(0);
  }
}

/** A unit at work. Of its phase scope only the mark: what a unit makes may outlive it. */
class UnitHere {
  readonly phaseScope: symbol;
  readonly children: Children;

  constructor(phaseScope: symbol, children: Children) {
    this.phaseScope = phaseScope;
    this.children = children;
  }
}

/** Runs a unit of the phase scope that has this mark; the unit asks for children of its own. */
export function runUnit<Answer>(
  phaseScope: symbol,
  children: Children,
  work: () => Answer,
): Answer {
  return runPiece(new UnitHere(phaseScope, children), work);
}

/**
 * What the unit of a phase scope asks for below which this code runs, as long as that has not
 * ended.
 */
export function childrenHere(phaseScope: symbol): Children | undefined {
  const unit = pieceHere();
  const isOurs =
    unit instanceof UnitHere && unit.phaseScope === phaseScope && !unit.children.isOver;
  return isOurs ? unit.children : undefined;
}

function nothing(): void {}

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
