/**
 * The ways in which a deploy can change a pipeline under a job that is in the middle of it, and the
 * stated outcome of each. `rule` is the line of docs/pipelines.md that states it.
 */

/** What one release, as a process of its own, is told. */
export interface ReleaseSettings {
  readonly url: string;
  readonly log: string;
  /** What its results are marked with: each release returns another shape. */
  readonly mark: Mark;
  /** In the order of its definition; none: it has a plain handler. */
  readonly phases: readonly string[];
  /** The phase in which it never ends: there it is killed or stopped. Absent: all end. */
  readonly stuckIn?: string;
}

export type Mark = "old" | "new";

/** The name of the plain handler of a release without phases. */
export const HANDLER = "(handler)";

/** A phase has begun, with the results of those before it, or its step was done. */
export interface ReleaseLine {
  readonly pid: number;
  readonly what: "phase" | "step";
  readonly phase: string;
  readonly results: Readonly<Record<string, unknown>>;
}

export interface Change {
  readonly name: string;
  readonly rule: string;
  readonly before: readonly string[];
  readonly stuckIn: string;
  readonly after: readonly string[];
  readonly outcome: Outcome;
}

export interface Outcome {
  /** What the new release ran, in this order. */
  readonly ran: readonly string[];
  /** Completed by the old release, and not run again. */
  readonly kept: readonly string[];
  /** The phase whose result is that of the job. */
  readonly result: string;
}

const NEW = "adds a phase";
const LOST = "removes a phase";
const ORDER = "changes the order";
const RENAMED = "renames a phase";
const SHAPE = "returns another shape";
const PHASED = "replaces a handler by phases";

const THREE = ["one", "two", "three"];

export const CHANGES: readonly Change[] = [
  {
    name: "the shape of results",
    rule: SHAPE,
    before: THREE,
    stuckIn: "two",
    after: THREE,
    outcome: { ran: ["two", "three"], kept: ["one"], result: "three" },
  },
  {
    name: "added at the end",
    rule: NEW,
    before: THREE,
    stuckIn: "three",
    after: [...THREE, "four"],
    outcome: { ran: ["three", "four"], kept: ["one", "two"], result: "four" },
  },
  {
    name: "added in front",
    rule: NEW,
    before: THREE,
    stuckIn: "two",
    after: ["zero", ...THREE],
    outcome: { ran: ["zero", "two", "three"], kept: ["one"], result: "three" },
  },
  {
    name: "added between finished ones",
    rule: NEW,
    before: THREE,
    stuckIn: "three",
    after: ["one", "new", "two", "three"],
    outcome: { ran: ["new", "three"], kept: ["one", "two"], result: "three" },
  },
  {
    name: "added before the unfinished",
    rule: NEW,
    before: THREE,
    stuckIn: "two",
    after: ["one", "new", "two", "three"],
    outcome: { ran: ["new", "two", "three"], kept: ["one"], result: "three" },
  },
  {
    name: "removed a finished one",
    rule: LOST,
    before: THREE,
    stuckIn: "three",
    after: ["one", "three"],
    outcome: { ran: ["three"], kept: ["one"], result: "three" },
  },
  {
    name: "removed the unfinished one",
    rule: LOST,
    before: THREE,
    stuckIn: "two",
    after: ["one", "three"],
    outcome: { ran: ["three"], kept: ["one"], result: "three" },
  },
  {
    name: "removed all that was left",
    rule: LOST,
    before: THREE,
    stuckIn: "three",
    after: ["one", "two"],
    outcome: { ran: [], kept: ["one", "two"], result: "two" },
  },
  {
    name: "reordered",
    rule: ORDER,
    before: [...THREE, "four"],
    stuckIn: "two",
    after: ["four", "one", "three", "two"],
    outcome: { ran: ["four", "three", "two"], kept: ["one"], result: "two" },
  },
  {
    name: "a finished one moved to the end",
    rule: ORDER,
    before: ["one", "two"],
    stuckIn: "two",
    after: ["two", "one"],
    outcome: { ran: ["two"], kept: ["one"], result: "one" },
  },
  {
    name: "renamed a finished one",
    rule: RENAMED,
    before: THREE,
    stuckIn: "three",
    after: ["one", "second", "three"],
    outcome: { ran: ["second", "three"], kept: ["one"], result: "three" },
  },
  {
    name: "renamed the unfinished one",
    rule: RENAMED,
    before: THREE,
    stuckIn: "two",
    after: ["one", "second", "three"],
    outcome: { ran: ["second", "three"], kept: ["one"], result: "three" },
  },
  {
    name: "phases for a handler",
    rule: PHASED,
    before: [],
    stuckIn: HANDLER,
    after: ["one", "two"],
    outcome: { ran: ["one", "two"], kept: [], result: "two" },
  },
];

/** What each phase returns, so that results can be told apart. */
export function resultOf(phase: string, mark: Mark): object {
  return { [mark]: phase };
}

/**
 * The results that a phase of the new release is given: of all phases before it there, as the
 * release returned them that ran each.
 */
export function resultsBefore({ after, outcome }: Change, phase: string): object {
  const before = after.slice(0, after.indexOf(phase));
  return Object.fromEntries(before.map((each) => [each, storedOf(outcome, each)]));
}

export function storedOf({ kept }: Outcome, phase: string): object {
  return resultOf(phase, kept.includes(phase) ? "old" : "new");
}
