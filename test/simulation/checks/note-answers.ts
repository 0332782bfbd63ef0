/** Checks the answers about notes, locks and dependencies. */
import type { NewJob, SettleAnswer, SettleItem } from "../../../src/store/types/jobs-and-runs.ts";
import type {
  NoteAnswer,
  NoteBody,
  AcquiredLocks,
  RunNote,
} from "../../../src/store/types/notes.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import type { Report } from "./invariants.ts";
import { restarts } from "../fleet/pipelines.ts";
import { hexOf } from "./snapshot.ts";
import type { Watch } from "./watch.ts";

interface NoteAnswersParts {
  readonly watch: Watch;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** Children that a run has asked for. */
interface Asked {
  readonly key: number;
  readonly children: readonly NewJob[];
  /** The hex of the id of their parent. */
  readonly parent: string;
  readonly isSuccess: boolean;
}

/** A run that did not get a lock. */
export interface Refused {
  readonly key: number;
  readonly n: number;
  readonly tenant: number;
  readonly name: string;
}

export class NoteAnswers {
  /** Locks that runs have last asked for and not got, by job, run and name. */
  readonly refused = new Map<string, Refused>();
  /** Children that came with a phase: the end of the run may name them once more. */
  readonly #born = new Set<string>();
  readonly #parts: NoteAnswersParts;

  constructor(parts: NoteAnswersParts) {
    this.#parts = parts;
  }

  /** Notes the dependencies of new jobs, and which of them ignore checkpoints. */
  asking(verb: Verb, args: readonly any[]): void {
    const { wanted } = this.#parts.watch;
    for (const job of newJobsIn(verb, args)) {
      const { id, after, onFailed, ignoreCheckpoints = false, type, tenant } = job;
      const dedup = job.dedup === null ? null : { ...job.dedup, type, tenant };
      const isPlain = after.length === 0 && !ignoreCheckpoints && dedup === null;
      if (!isPlain)
        wanted.set(hexOf(id), { after: after.map(hexOf), onFailed, ignoreCheckpoints, dedup });
    }
  }

  /** A start, a lock and mere progress may be lost with the power: the run is lost, too. */
  mayBeLost(verb: Verb, args: readonly any[]): boolean {
    return (
      verb === "startPrefetched" ||
      verb === "acquireLocks" ||
      (verb === "record" && args[0].every(isTalk))
    );
  }

  answered(verb: Verb, args: readonly any[], answer: any): void {
    if (verb === "record") this.#answeredNotes(args[0], answer);
    if (verb === "acquireLocks") this.#answeredLocks(args[0], args[1], answer);
    if (verb === "settle") this.#answeredLastLines(args[0], answer);
  }

  #answeredNotes(notes: readonly RunNote[], answers: readonly NoteAnswer[]): void {
    const { watch, report, count } = this.#parts;
    notes.forEach((note, index) => {
      const { key, n, completed, children = [] } = note;
      this.checkRefusal(`a note about job ${key}`, children, answers[index]);
      if (answers[index] === "stale") count("note of a zombie refused");
      const job = watch.committed.jobs.get(key);
      if (job === undefined) return;
      if (completed === undefined) {
        const isSuccess = answers[index] === "recorded";
        if (isSuccess) this.checkChildren({ key, children, parent: job.id, isSuccess });
        return;
      }
      const rows = watch.committed.phases.get(key) ?? [];
      const row = rows.find(({ name }) => name === completed.name);
      const isKept = row?.n === n && row.result === completed.result;
      if (!isKept && answers[index] === "recorded") {
        report("I1", `phase ${completed.name} of job ${key} was told and is not kept`);
      }
      // A repeated note is stale now; its first copy may have been stored and cleared since.
      if (!isKept && restarts(watch.committed.names.get(job.type) ?? "")) return;
      this.checkChildren({ key, children, parent: job.id, isSuccess: isKept });
    });
  }

  #answeredLocks(run: RunNote, names: readonly string[], answer: AcquiredLocks): void {
    const { watch, report, count } = this.#parts;
    if (answer.status === "stale") {
      count("name for a zombie refused");
      return;
    }
    if (answer.names.length < new Set(names).size) count("exclusive name is taken");
    const { key, n } = run;
    const tenant = watch.committed.jobs.get(key)?.tenant ?? 0;
    for (const name of names) {
      const wait = `${key}.${n}.${name}`;
      if (answer.names.includes(name)) this.refused.delete(wait);
      else this.refused.set(wait, { key, n, tenant, name });
    }
    for (const name of answer.names) {
      const lock = watch.committed.locks.get(`${tenant}.${name}`);
      const isHad = lock?.job === key && lock.n === n;
      const isOver = watch.committed.held.get(key)?.[0]?.n !== n;
      if (!isHad && !isOver) report("I14", `job ${key} was told that it has ${name}`);
    }
  }

  /** The last lines of a run are there with its end. */
  #answeredLastLines(items: readonly SettleItem[], answers: readonly string[]): void {
    const { watch, report, count } = this.#parts;
    items.forEach(({ key, n, note }, index) => {
      const isTold = answers[index] === "settled" && (note?.logs?.length ?? 0) > 0;
      if (!isTold || !watch.committed.jobs.has(key)) return;
      count("last lines came with the end");
      if ((watch.committed.logs.get(key)?.n ?? 0) < n) {
        report("I26", `the last lines of run ${n} of job ${key} are not kept`);
      }
    });
  }

  /** A note or settlement is refused only because of a child, and the reason is true. */
  checkRefusal(
    what: string,
    children: readonly NewJob[],
    answer: NoteAnswer | SettleAnswer | undefined,
  ): void {
    const { watch, report, count } = this.#parts;
    if (answer === "refused") report("I17", `${what} was refused`);
    if (typeof answer !== "object") return;
    const { child, code, holder } = answer;
    const asked = children.find(({ id }) => id === child);
    const isThere = watch.committed.keys.has(hexOf(holder)) || watch.pruned.has(hexOf(holder));
    const key = asked?.idempotency?.key;
    const isSibling = children.some(
      ({ id, idempotency }) => id === holder && idempotency?.key === key,
    );
    const isAfterMissing = code === "AFTER_UNKNOWN" && asked?.after.includes(holder) && !isThere;
    const isKeyTaken =
      code === "IDEMPOTENCY_CONFLICT" && key !== undefined && (isThere || isSibling);
    if (isAfterMissing) count("undone with a child after a missing job");
    else if (isKeyTaken) count("undone with a child whose key is taken");
    else report("I17", `${what} was refused because of job ${holder}: ${code}`);
  }

  /** Children exist exactly if their note or settlement is stored, except for duplicates. */
  checkChildren({ key, children, parent, isSuccess }: Asked): void {
    const { watch, report, count } = this.#parts;
    const isThere = (id: string): boolean => {
      return watch.committed.keys.has(hexOf(id)) || watch.pruned.has(hexOf(id));
    };
    for (const { id, parentId, dedup } of children) {
      const isWanted = isSuccess || this.#born.has(id);
      if (isWanted) this.#born.add(id);
      const isDuplicate = isWanted && dedup !== null && !isThere(id);
      if (isDuplicate) count("child gave way");
      else if (isThere(id) !== isWanted) {
        report("I2", `child ${id} of job ${key} is there: ${!isWanted}`);
      }
      if (hexOf(parentId ?? id) !== parent) report("I17", `child ${id} has another parent`);
    }
  }
}

function isTalk({ clearCheckpoints, units, completed, releases, children }: NoteBody): boolean {
  return (
    !clearCheckpoints && !completed && [units, releases, children].every((list) => !list?.length)
  );
}

function newJobsIn(verb: Verb, args: readonly any[]): readonly NewJob[] {
  if (verb === "enqueue") return args[0];
  if (verb === "enqueueInTransaction") return args[1];
  if (verb === "reprocess") return [args[1]];
  if (verb === "retryAsNew") return [args[0]];
  if (verb !== "record" && verb !== "settle") return [];
  return args[0].flatMap(({ children = [] }: { children?: readonly NewJob[] }) => children);
}
