/**
 * The child jobs that a unit, a phase or a plain run requests with `ctx.enqueue`. They are enqueued
 * in the transaction that stores its success. Children of a unit do not wait for the end of the
 * run: a completed unit is not repeated, so a later run would not request them again.
 */
import { currentUnit, runInUnit } from "../../jobs/async-context.ts";
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";

const CHILDREN_MAX = 10_000;
/** More text is too much for one transaction. */
const CHARS_MAX = 32_000_000;

export class Children {
  #children: NewJob[] = [];
  #chars = 0;
  #isOver = false;
  /** Requests whose payload is still being checked. */
  readonly #pending = new Set<Promise<unknown>>();

  get isOver(): boolean {
    return this.#isOver;
  }

  get children(): readonly NewJob[] {
    return this.#children;
  }

  /** The unit does not end before this request is checked. */
  expect(request: Promise<unknown>): void {
    const checked = request.then(nothing, nothing).then(() => void this.#pending.delete(checked));
    this.#pending.add(checked);
  }

  /** Throws if one transaction cannot hold the child as well. */
  add(child: NewJob, parentType: string): void {
    const chars = this.#chars + (child.payload?.length ?? 0);
    if (this.#children.length >= CHILDREN_MAX || chars > CHARS_MAX) {
      throw new TooManyChildren(parentType);
    }
    this.#chars = chars;
    this.#children.push(child);
  }

  /** Resolves when all requests are checked. */
  async complete(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Refuses later requests, and frees the memory. Returns the children. */
  end(): readonly NewJob[] {
    this.#isOver = true;
    return this.#children.splice(0);
  }
}

/** A running unit. It refers to its phase scope by id, because async resources may outlive it. */
class RunningUnit {
  readonly phaseScope: symbol;
  readonly children: Children;

  constructor(phaseScope: symbol, children: Children) {
    this.phaseScope = phaseScope;
    this.children = children;
  }
}

/** Runs a unit of the phase scope with this id. */
export function runUnit<Answer>(
  phaseScope: symbol,
  children: Children,
  work: () => Answer,
): Answer {
  return runInUnit(new RunningUnit(phaseScope, children), work);
}

/** The children of the unit that runs this code, if the unit is of this scope and has not ended. */
export function childrenOfUnit(phaseScope: symbol): Children | undefined {
  const unit = currentUnit();
  const isOurs =
    unit instanceof RunningUnit && unit.phaseScope === phaseScope && !unit.children.isOver;
  return isOurs ? unit.children : undefined;
}

function nothing(): void {}

/** A retry would fail the same way. */
class TooManyChildren extends MillraceError {
  constructor(type: string) {
    super(
      "CHILDREN_TOO_MANY",
      `job "${type}": a phase, a unit, or a run without phases has at most ${CHILDREN_MAX} ` +
        `children by ctx.enqueue, with payloads of at most ${CHARS_MAX / 1_000_000} MB together, ` +
        "because they are enqueued with its end, in one transaction; enqueue more with " +
        "mill.enqueueMany, in batches",
      { details: { type, max: CHILDREN_MAX, maxChars: CHARS_MAX } },
    );
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}
