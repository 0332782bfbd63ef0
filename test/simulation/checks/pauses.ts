/**
 * A model of the gates: of several pauses of one gate the newest counts. The gates that the store
 * lists, its explanations and its claims are compared with the model.
 */
import { CRASH_GATE_BY } from "../../../src/core/crashes.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import type { Explanation } from "../../../src/api/client.ts";
import type { Gate, GateName } from "../../../src/store/types/records.ts";
import { GATE_AFTER } from "./flows.ts";
import type { Report } from "./invariants.ts";
import { isClosed } from "./order.ts";
import type { GateRow, JobRow } from "./rows.ts";
import type { Watch } from "./watch.ts";

/** Reasons that an explanation may give although a pause holds the job back as well. */
const OTHER_REASONS: ReadonlySet<string> = new Set(["breaker", "rate_limited", "limit", "rate"]);

/** When a gate was closed is not compared: the clocks of the processes differ. */
type KnownGate = Omit<Gate, "closedAt">;

interface PausesParts {
  readonly watch: Watch;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** What an explanation must agree with: what held the job when the call began. */
export interface Asked {
  readonly key: number;
  readonly n: number | null;
  readonly endless: readonly KnownGate[];
}

export class Pauses {
  readonly #parts: PausesParts;
  /** The newest pause of each gate; no two kinds of gates share a name here. */
  readonly #newest = new Map<string, KnownGate>();
  /** When each gate was resumed last. */
  readonly #resumedAt = new Map<string, number>();
  /** All pauses ever made, by their text in an explanation. */
  readonly #sentences = new Map<string, KnownGate[]>();

  constructor(parts: PausesParts) {
    this.#parts = parts;
  }

  /** A verb has taken effect at this moment of its process's clock. */
  answered(nowMs: number, verb: Verb, args: readonly any[]): void {
    if (verb === "pause") this.#answeredPause(nowMs, args[0], args[1]);
    if (verb === "resume") this.#answeredResume(nowMs, args[0]);
  }

  #answeredPause(
    nowMs: number,
    { kind, name }: GateName,
    { reason, by, forMs }: { reason: string; by: string | null; forMs?: number },
  ): void {
    const { count } = this.#parts;
    const until = forMs === undefined ? null : nowMs + forMs;
    const old = this.closedAt(name, nowMs);
    if (old !== undefined) count("paused again");
    if (old?.until === null && until !== null) count("endless pause given an end");
    if (old !== undefined && old.until !== null && until === null) count("end of a pause lifted");
    const pause = { kind, name, reason, by, until };
    const sentence = sentenceOf(pause);
    this.#newest.set(name, pause);
    this.#sentences.set(sentence, [...(this.#sentences.get(sentence) ?? []), pause]);
    this.#checkRow(pause);
  }

  #answeredResume(nowMs: number, { name }: GateName): void {
    this.#resumedAt.set(name, nowMs);
    const old = this.#newest.get(name);
    if (this.#rowOf(name)?.by === CRASH_GATE_BY) this.#newest.delete(name);
    if (old === undefined || !this.#newest.has(name)) return;
    const opened = { ...old, until: 0 };
    this.#newest.set(name, opened);
    if (this.#rowOf(name) !== undefined) this.#checkRow(opened);
  }

  /** The stored gate is the newest pause, unless another call shared the commit. */
  #checkRow({ name, until, reason, by }: KnownGate): void {
    const { watch, report } = this.#parts;
    if (!watch.isAlone) return;
    const row = this.#rowOf(name);
    const isKept = row?.until === until && row.reason === reason && row.by === by;
    if (!isKept) report("I8", `the last word about the gate ${name} was not kept`);
  }

  /** The pause of a name now. A pause that has ended by some clock is removed for all. */
  closedAt(name: string, nowMs: number): KnownGate | undefined {
    const row = this.#rowOf(name);
    const pause = this.#closedByCrashes(row, name) ?? this.#newest.get(name);
    if (pause === undefined || row === undefined) return undefined;
    return isClosed(pause, nowMs) ? pause : undefined;
  }

  /** Whether no pause of a name has been in force since then. */
  wasOpenSince(name: string, sinceMs: number): boolean {
    const resumedAt = this.#resumedAt.get(name) ?? -Infinity;
    return resumedAt <= sinceMs && this.closedAt(name, sinceMs) === undefined;
  }

  /** The gate of a type that the store has closed. */
  #closedByCrashes(row: GateRow | undefined, name: string): KnownGate | undefined {
    if (row?.by !== CRASH_GATE_BY) return undefined;
    const { reason, by, until } = row;
    const gate = { kind: "type", name, reason, by, until } as const;
    this.#sentences.set(sentenceOf(gate), [gate]);
    return gate;
  }

  /** Whether the pause of a name has no end. */
  isEndless(name: string): boolean {
    return (
      (this.#closedByCrashes(this.#rowOf(name), name) ?? this.#newest.get(name))?.until === null
    );
  }

  /** Crashes close the gates of all types, also of those that no action pauses. */
  closedByCrashes(): readonly GateName[] {
    const { gates, names } = this.#parts.watch.committed;
    const crashed = [...gates.values()].filter(({ by }) => by === CRASH_GATE_BY);
    return crashed.map((row) => ({ kind: "type", name: names.get(row.name) ?? "" }));
  }

  #rowOf(name: string) {
    const { gates, names } = this.#parts.watch.committed;
    return [...gates.values()].find((row) => names.get(row.name) === name);
  }

  /** The gates that are listed are those that are closed, each with its newest end and reason. */
  checkListed(nowMs: number, listed: readonly KnownGate[]): void {
    const { gates, names } = this.#parts.watch.committed;
    const crashed = [...gates.values()].filter(({ by }) => by === CRASH_GATE_BY);
    const known = [...this.#newest.keys(), ...crashed.map(({ name }) => names.get(name) ?? "")];
    const closed = [...new Set(known)].flatMap((name) => this.closedAt(name, nowMs) ?? []);
    const [found, wanted] = [textOf(listed), textOf(closed)];
    if (found !== wanted)
      this.#parts.report("I8", `closed gates are ${wanted}; listed is ${found}`);
  }

  /** No job is claimed while one of its gates is paused, unless a pause shares the commit. */
  checkClaimed(nowMs: number, job: JobRow): void {
    if (!this.#parts.watch.isAlone) return;
    for (const { name, reason } of this.#pausesOf(job, nowMs)) {
      this.#parts.report("I8", `job ${job.key} was claimed while ${name} is paused: ${reason}`);
    }
  }

  #pausesOf({ lane, type, tenant }: JobRow, nowMs: number): readonly KnownGate[] {
    const { names } = this.#parts.watch.committed;
    return [lane, type, tenant].flatMap((id) => this.closedAt(names.get(id) ?? "", nowMs) ?? []);
  }

  /** Called before an explanation is requested. */
  ask(job: JobRow, nowMs: number): Asked {
    const place = this.#parts.watch.committed.places.get(job.key)?.[0];
    // For a job with open dependencies, the explanation names those first.
    const isDue = place !== undefined && place.place !== "scheduled" && place.gate !== GATE_AFTER;
    const endless = this.#pausesOf(job, nowMs).filter(({ until }) => until === null);
    return { key: job.key, n: isDue ? place.n : null, endless };
  }

  /** An explained pause was really made; a pause that lasted all the time is explained. */
  checkExplained(before: Asked, after: Asked, { reason, sentence, until }: Explanation): void {
    const { report, count } = this.#parts;
    const isWaiting = before.n !== null && before.n === after.n;
    const hasStood = before.endless.some((pause) => after.endless.includes(pause));
    if (reason !== "paused") {
      // A job may be held back by several things, of which one is told.
      const isHidden = isWaiting && hasStood && !OTHER_REASONS.has(reason);
      if (isHidden) report("I8", `job ${before.key} is paused, and explained as ${reason}`);
      return;
    }
    count("pause explained");
    const made = this.#sentences.get(sentence) ?? [];
    const isMade = made.some((pause) => pause.until === (until?.getTime() ?? null));
    if (!isMade) report("I8", `job ${before.key} is explained by no pause: ${sentence}`);
  }
}

function sentenceOf({ kind, name, by, reason }: KnownGate): string {
  const whose = by === null ? "" : ` by ${by}`;
  return `The ${kind} ${name} is paused${whose}: ${reason}.`;
}

function textOf(gates: readonly KnownGate[]): string {
  const lines = gates.map(
    ({ kind, name, reason, by, until }) => `${kind} ${name} (${reason}) by ${by} until ${until}`,
  );
  return `[${lines.toSorted().join(", ")}]`;
}
