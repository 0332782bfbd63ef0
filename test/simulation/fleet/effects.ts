/**
 * The effects of handlers, recorded outside the store: which phases and units they run, and under
 * which locks. A run that the store has ended is a zombie: its effects do not count.
 */
import type { Report } from "../checks/invariants.ts";
import { triesBefore } from "../checks/notes.ts";
import { restarts } from "./pipelines.ts";
import type { HeldRow, JobRow } from "../checks/rows.ts";
import { hexOf } from "../checks/snapshot.ts";
import type { Watch } from "../checks/watch.ts";
import type { Process } from "./world.ts";

interface EffectsParts {
  readonly watch: Watch;
  readonly report: Report;
  readonly count: (name: string) => void;
  /** Whether the workers of a process are being stopped, or were. */
  readonly isStopping: (process: Process) => boolean;
}

/** A run as its handler knows it. */
export interface Actor {
  readonly process: Process;
  /** The hex of the id of its job. */
  readonly id: string;
  readonly fence: number;
}

/** A run that the store still counts as open. */
interface Standing {
  readonly job: JobRow;
  readonly run: HeldRow;
}

const COMPLETED_UNIT = 2;
const SNOOZED_RUN = 7;

export class Effects {
  readonly #parts: EffectsParts;
  /** The runs that work under a lock, by tenant and name. */
  readonly #holders = new Map<string, Set<Actor & { readonly as: "job" | "unit" }>>();
  /** Units in progress, by job, fence, phase and unit. */
  readonly #underWay = new Set<string>();
  /** Runs whose handler snoozed while units were under way: the fence by job. */
  readonly #leftBehind = new Map<string, number>();

  constructor(parts: EffectsParts) {
    this.#parts = parts;
  }

  /** The job and the run of a handler; null when the store has ended it, or its process died. */
  standing({ process, id, fence }: Actor): Standing | null {
    const { committed } = this.#parts.watch;
    const job = committed.jobs.get(committed.keys.get(id) ?? 0);
    const run = committed.held.get(job?.key ?? 0)?.find((held) => held.fence === fence);
    return process.isAlive && job !== undefined && run !== undefined ? { job, run } : null;
  }

  /** A run starts to work under a lock. Answers a function that ends it. */
  enter(name: string, actor: Actor, as: "job" | "unit"): () => void {
    const { report, count } = this.#parts;
    const standing = this.standing(actor);
    if (standing === null) return () => {};
    const full = `${standing.job.tenant}.${name}`;
    const holders = this.#holders.get(full) ?? new Set();
    this.#holders.set(full, holders);
    for (const other of holders) {
      const isOwnJob = other.fence === actor.fence && other.id === actor.id && other.as !== as;
      if (isOwnJob) continue;
      if (this.standing(other) !== null) {
        report("I14", `jobs ${actor.id} and ${other.id} work under the lock ${name}`);
        continue;
      }
      if (other.process.isAlive) count("name passed on while a zombie works under it");
      holders.delete(other);
    }
    const mine = { ...actor, as };
    holders.add(mine);
    return () => void holders.delete(mine);
  }

  /** A phase begins: its result must not be stored already. */
  phaseBegins(actor: Actor, phase: string, results: object): void {
    const { watch, report, count } = this.#parts;
    const standing = this.standing(actor);
    if (standing === null) return;
    const { job, run } = standing;
    const rows = watch.committed.phases.get(job.key) ?? [];
    const known = rows.find(({ name }) => name === phase);
    if (known !== undefined && this.#isOfSameAttempt(standing, known.n)) {
      report("I25", `phase ${phase} of job ${job.key} runs again after its result was stored`);
    }
    const names = Object.keys(results);
    if (names.length > 0 && run.n > 1 && rows.some(({ n }) => n < run.n))
      count("resumed at a phase");
    for (const [name, result] of Object.entries(results)) {
      const row = rows.find((each) => each.name === name);
      if (row?.result !== JSON.stringify(result)) {
        report("I17", `phase ${phase} of job ${job.key} was given another result of ${name}`);
      }
    }
  }

  /** A unit begins: it must not have completed. Answers how to end it. */
  unitBegins(actor: Actor, phase: string, unit: string): () => void {
    const { watch, report } = this.#parts;
    const name = `${actor.id}.${actor.fence}.${phase}.${unit}`;
    if (this.#underWay.has(name))
      report("I25", `unit ${unit} of job ${actor.id} runs twice at once`);
    this.#underWay.add(name);
    const isLeft = (): boolean => this.#leftBehind.get(actor.id) === actor.fence;
    if (isLeft()) report("I25", `unit ${unit} of job ${actor.id} begins after its run has ended`);
    const standing = this.standing(actor);
    const known = watch.committed.units
      .get(standing?.job.key ?? 0)
      ?.find((row) => row.phase === phase && row.unit === unit && row.state === COMPLETED_UNIT);
    if (standing !== null && known !== undefined && this.#isOfSameAttempt(standing, known.n)) {
      report("I25", `unit ${unit} of job ${standing.job.key} runs again after it had completed`);
    }
    return () => {
      this.#underWay.delete(name);
      if (isLeft() && this.#hasSettled(actor)) {
        report("I25", `unit ${unit} of job ${actor.id} goes on after its run was settled`);
      }
    };
  }

  /** The handler of a run snoozes while units are under way. Answers false the second time. */
  leavesUnits({ id, fence }: Actor): boolean {
    if (this.#leftBehind.has(id)) return false;
    this.#leftBehind.set(id, fence);
    return true;
  }

  /**
   * Whether the ledger says that the run snoozed, which only its own worker settles. A worker that
   * stops waits for units no longer than for handlers.
   */
  #hasSettled({ process, id, fence }: Actor): boolean {
    const { watch, isStopping } = this.#parts;
    const { committed } = watch;
    const attempts = committed.attempts.get(committed.keys.get(id) ?? 0) ?? [];
    const own = attempts.find((attempt) => attempt.fence === fence);
    return process.isAlive && !isStopping(process) && own?.outcome === SNOOZED_RUN;
  }

  /** The result of a completed unit that a handler gets is the stored result. */
  unitAnswered(actor: Actor, phase: string, unit: string, result: unknown): void {
    const { watch, report, count } = this.#parts;
    const standing = this.standing(actor);
    if (standing === null) return;
    const rows = watch.committed.units.get(standing.job.key) ?? [];
    const row = rows.find((each) => each.phase === phase && each.unit === unit);
    const isKept = row?.state === COMPLETED_UNIT && row.result === JSON.stringify(result);
    if (!isKept) report("I25", `unit ${unit} of job ${standing.job.key} is answered, not stored`);
    const [, child] = /with (\w+)$/.exec(String(result)) ?? [];
    if (child === undefined) return;
    const isThere = watch.committed.keys.has(hexOf(child)) || watch.pruned.has(hexOf(child));
    if (row?.n !== standing.run.n) count("child of a unit found by a later run");
    if (!isThere) report("I2", `the child of unit ${unit} of job ${standing.job.key} is lost`);
  }

  /** Awaited progress is stored, or newer progress is. */
  progressReported(actor: Actor, turn: number): void {
    const { watch, report } = this.#parts;
    const standing = this.standing(actor);
    if (standing === null) return;
    const row = watch.committed.runs.get(standing.job.key);
    const data: { turn?: number } | null = JSON.parse(row?.data ?? "null");
    const isLater = row !== undefined && row.n === standing.run.n && (data?.turn ?? 0) >= turn;
    if (!isLater) report("I25", `progress ${turn} of job ${standing.job.key} is told, not stored`);
  }

  /** How many units of a phase have completed by now. */
  completedIn(actor: Actor, phase: string): number {
    const standing = this.standing(actor);
    const rows = this.#parts.watch.committed.units.get(standing?.job.key ?? 0) ?? [];
    return rows.filter((row) => row.phase === phase && row.state === COMPLETED_UNIT).length;
  }

  /** A job that restarts with each attempt repeats the work of earlier attempts. */
  #isOfSameAttempt({ job, run }: Standing, n: number): boolean {
    const { committed } = this.#parts.watch;
    if (!restarts(committed.names.get(job.type) ?? "")) return true;
    return triesBefore(committed, job.key, n) === triesBefore(committed, job.key, run.n);
  }
}
