/** Judges what became of jobs that were cancelled around the borders of their phases. */
import type { Millrace } from "millrace";
import type { JobStore } from "../../../../src/store/store.ts";
import { PHASES } from "./phase-borders.ts";
import type { BorderLine, Cancellation, Way } from "./phase-borders.ts";

export interface Cancelled {
  readonly id: string;
  readonly way: Way;
  /**
   * Where it landed: before the first phase began, between the end of one and the begin of the
   * next, within one, or too late to change anything.
   */
  readonly where: "before" | "between" | "within" | "late";
  readonly runs: number;
  readonly violations: readonly string[];
}

/** What is known at the end. */
export interface Witnesses {
  readonly mill: Millrace;
  readonly store: JobStore;
  readonly lines: readonly BorderLine[];
  /** How often a listener heard of the cancel of each. */
  readonly heard: ReadonlyMap<string, number>;
}

const PAGE = 1_000;

export async function judgeCancels(
  { mill, store, lines, heard }: Witnesses,
  asked: readonly { readonly id: string; readonly cancellation: Cancellation }[],
): Promise<readonly Cancelled[]> {
  const told = await toldByJob(store);
  const done = Map.groupBy(lines, ({ job }) => job);
  const judged: Cancelled[] = [];
  for (const { id, cancellation } of asked) {
    const facts = await factsOf(mill, id, told.get(id) ?? [], done.get(id) ?? []);
    const violations = [...disagreements(facts), ...doubled(facts, heard.get(id) ?? 0)];
    const { runs } = facts;
    judged.push({ id, way: cancellation.way, where: whereOf(facts), runs, violations });
  }
  return judged;
}

type Facts = Awaited<ReturnType<typeof factsOf>>;

async function factsOf(
  mill: Millrace,
  id: string,
  told: readonly string[],
  lines: readonly BorderLine[],
) {
  const { state } = await mill.jobs.get(id);
  const { phases } = await mill.jobs.progress(id);
  const completed = new Set(
    phases.filter((phase) => phase.state === "completed").map(({ name }) => name),
  );
  const runs = new Set(lines.map(({ fence }) => fence)).size;
  return { state, completed, phases, runs, told, lines };
}

/** Of the state of the job, those of its phases, and what was really done. */
function disagreements({ state, completed, phases, lines }: Facts): readonly string[] {
  const shown = phases.map((phase) => phase.state).join(" ");
  const prefix = PHASES.map((_, index) => (index < completed.size ? "completed" : "cancelled"));
  const ended = new Set(lines.filter(({ what }) => what === "end").map(({ phase }) => phase));
  const begun = new Set(lines.filter(({ what }) => what === "begin").map(({ phase }) => phase));
  const isWell = state === "completed" || state === "cancelled";
  return [
    isWell ? null : `it is ${state}`,
    shown === prefix.join(" ") ? null : `its phases are ${shown}`,
    state === "completed" && completed.size < PHASES.length ? "it completed without all" : null,
    state === "cancelled" && completed.size === PHASES.length ? "it was cancelled after all" : null,
    [...completed].every((phase) => ended.has(phase))
      ? null
      : "a phase is completed that did not end",
    begun.size > completed.size + 1 ? "a phase began before the one before it was stored" : null,
  ].filter((text) => text !== null);
}

/** What the feed and the listeners were told, and how often. */
function doubled({ state, completed, told }: Facts, heard: number): readonly string[] {
  const count = (event: string): number => told.filter((each) => each === event).length;
  const wanted = new Map([
    ["job:cancelled", state === "cancelled" ? 1 : 0],
    ["job:completed", state === "completed" ? 1 : 0],
    ...PHASES.map((phase): [string, number] => [
      `job:phase:completed ${phase}`,
      completed.has(phase) ? 1 : 0,
    ]),
  ]);
  const wrong = [...wanted].filter(([event, times]) => count(event) !== times);
  const cancels = wanted.get("job:cancelled");
  return [
    ...wrong.map(([event]) => `${event} is ${count(event)} times in the feed`),
    ...(heard === cancels ? [] : [`job:cancelled was heard ${heard} times`]),
  ];
}

function whereOf({ state, completed, lines }: Facts): Cancelled["where"] {
  if (state === "completed") return "late";
  const begun = new Set(lines.filter(({ what }) => what === "begin").map(({ phase }) => phase));
  if (begun.size === 0) return "before";
  return begun.size > completed.size ? "within" : "between";
}

/** Every event of every job, with the name of the phase where it has one. */
async function toldByJob(store: JobStore): Promise<ReadonlyMap<string, readonly string[]>> {
  const told = new Map<string, string[]>();
  for (let position = 0; ;) {
    const entries = await store.feed(position, PAGE);
    for (const { kind, jobs, details } of entries) {
      for (const [index, id] of jobs.entries()) {
        const { phase = "" } = kind === "job:progress" ? {} : JSON.parse(details?.[index] ?? "{}");
        const known = told.get(id) ?? [];
        known.push(`${kind} ${phase}`.trim());
        told.set(id, known);
      }
    }
    const last = entries.at(-1);
    if (last === undefined) return told;
    position = last.position;
  }
}
