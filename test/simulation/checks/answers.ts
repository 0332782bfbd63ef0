/**
 * Compares answers of the store with its rows, and remembers acknowledged changes, which must not
 * be lost.
 */
import type { JobId } from "../../../src/core/job.ts";
import type { JobRecord } from "../../../src/store/types/records.ts";
import type {
  LoneClaim,
  SettleAnswer,
  SettleItem,
} from "../../../src/store/types/jobs-and-runs.ts";
import type { ProbeClaim } from "../../../src/store/types/services.ts";
import { awaitedService } from "../../../src/store/shared/services/vain-wait.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import type { Actor } from "../fleet/effects.ts";
import { endOf } from "./flows.ts";
import { NoteAnswers } from "./note-answers.ts";
import type { Report } from "./invariants.ts";
import type { Payload } from "../fleet/jobs.ts";
import { isBehindGate } from "./order.ts";
import { Pauses } from "./pauses.ts";
import { CLOSED, isBehindService, isLimitGate, openServices, parksOf } from "./control/barriers.ts";
import { ServiceCallChecks } from "./control/service-calls.ts";
import type { Behaviour } from "../plan/plan.ts";
import type { RetentionRules, RetentionStage } from "../fleet/retention.ts";
import type { AttemptRow, JobRow, PlaceRow } from "./rows.ts";
import { finalState, hexOf, type Snapshot } from "./snapshot.ts";
import { checkAnswer } from "./answer-checks.ts";
import type { Watch } from "./watch.ts";
import type { Process } from "../fleet/world.ts";

/** The outcome of a handler with this behaviour, unless its run is ended from outside. */
const ENDS: Readonly<Partial<Record<Behaviour, string>>> = {
  ok: "succeeded",
  slow: "succeeded",
  long: "succeeded",
  child: "succeeded",
  talk: "succeeded",
  step: "succeeded",
  family: "succeeded",
  throw: "failed",
  transient: "failed",
  fatal: "failed",
  snooze: "snoozed",
};
/** Enough jobs of a lease, or leases of a worker, that one may be forgotten between others. */
const CROWDED = 3;
const OWN_ENDS: ReadonlySet<string> = new Set(["succeeded", "failed", "snoozed"]);
const STATE_OF: Readonly<Record<string, number>> = {
  completed: 4,
  completed_with_errors: 5,
  failed: 6,
  cancelled: 7,
};

interface AnswersParts {
  readonly watch: Watch;
  readonly retention: RetentionRules;
  readonly report: Report;
  readonly count: (name: string) => void;
}

export class Answers {
  /** The payloads of acknowledged jobs, by the hex of their ids. */
  readonly acked = new Map<string, { readonly payload: string | null }>();
  /** The fences under which handlers began, by the hex of the id of their job. */
  readonly starts = new Map<string, number[]>();
  /** Processes that were asked to be quiet, and stay so until they end. */
  readonly quieted = new Set<Process>();
  readonly pauses: Pauses;
  readonly notes: NoteAnswers;
  readonly services: ServiceCallChecks;
  readonly #parts: AnswersParts;
  /** Ends that were acknowledged: the id of the job by job and run. */
  readonly #settled = new Map<string, string>();
  /** Runs that the store has allowed to begin, and how they went. */
  readonly #allowed = new Set<string>();
  readonly #behaved = new Map<string, Behaviour>();
  /** Prefetched jobs, by fence and key. */
  readonly #prefetched = new Map<string, string>();

  constructor(parts: AnswersParts) {
    this.#parts = parts;
    this.pauses = new Pauses(parts);
    this.notes = new NoteAnswers(parts);
    this.services = new ServiceCallChecks(parts);
    parts.watch.onCommit = (before, after) => this.services.adopt(before, after);
  }

  /** Called before a verb: its arguments count even if no answer arrives. */
  asking(verb: Verb, args: readonly any[]): void {
    this.notes.asking(verb, args);
  }

  /** A verb was answered. */
  answered(process: Process, verb: Verb, args: readonly any[], answer: any): void {
    const { watch, report, count } = this.#parts;
    const nowMs = process.clock.now();
    this.pauses.answered(nowMs, verb, args);
    if (!watch.isDurable && !this.notes.mayBeLost(verb, args)) {
      report("I18", `${verb} was told before it was synced`);
    }
    this.notes.answered(verb, args, answer);
    this.services.answered(nowMs, verb, args, answer);
    if (verb === "claimProbe") this.#answeredProbe(nowMs, answer);
    if (verb === "settle") this.#answeredSettle(args[0], answer);
    if (verb === "claim") this.#answeredClaim(nowMs, args[0], answer);
    if (verb === "claimAlone") this.#answeredLone(nowMs, answer);
    if (verb === "startPrefetched") this.#answeredStart(args[0], answer);
    if (verb === "renew" && answer.status === "lost") count("heartbeat of a lost worker");
    if (verb === "renew" && answer.quiet) this.quieted.add(process);
    if (verb === "cancel" && answer.status === "requested") {
      count("running job asked to be cancelled");
    }
    if (verb === "rescue" && !answer.done) count("rescue came too late");
    if (verb === "enqueue") this.#answeredEnqueue(args[0], answer);
    if (verb === "retryAsNew") this.#answeredEnqueue([args[0]], [answer]);
    if (verb === "stats") this.#checkStats(nowMs, answer);
    if (verb === "get" && answer !== null) this.#checkRecord(nowMs, answer);
    if (verb === "expired") {
      this.#answeredExpired(nowMs, args[1].fresh ? "stale" : "gone", answer.jobs);
    }
    if (verb === "gates") this.pauses.checkListed(nowMs, answer);
    if (!watch.isAlone) return;
    checkAnswer({ now: watch.committed, nowMs, args, answer, report }, verb);
  }

  #answeredClaim(
    nowMs: number,
    request: { readonly prefetch: boolean; readonly worker: string },
    claim: any,
  ): void {
    const { watch, count } = this.#parts;
    if (claim.lost) count("claim of a worker without a lease");
    const isFresh = claim.lease !== null && watch.isFresh(claim.lease.number);
    if (claim.lease !== null && !isFresh) count("unheard claim answered");
    if (claim.jobs.length >= CROWDED) count("lease of three jobs or more");
    const worker = hexOf(request.worker);
    const leases = [...watch.committed.leases.values()].filter((each) => each.worker === worker);
    if (leases.length >= CROWDED) count("worker with three leases or more");
    const isBeside = [...watch.committed.leases.values()].some((each) => {
      return each.worker !== worker && watch.workers.get(each.worker) === watch.workers.get(worker);
    });
    if (isBeside && claim.jobs.length > 0) count("worker beside another of its process");
    for (const { id, key } of claim.jobs) {
      const { number } = claim.lease;
      const job = watch.committed.jobs.get(key);
      if (isFresh && job !== undefined) this.pauses.checkClaimed(nowMs, job);
      if (request.prefetch) this.#prefetched.set(`${number}.${key}`, id);
      else this.#allowed.add(`${hexOf(id)}.${number}`);
    }
  }

  #answeredLone(nowMs: number, claim: LoneClaim | null): void {
    const { watch, count } = this.#parts;
    if (claim === null) return;
    const { key, id } = claim.job;
    const job = watch.committed.jobs.get(key);
    if (!claim.isProbe && job !== undefined) this.pauses.checkClaimed(nowMs, job);
    count(claim.isProbe ? "probe claimed" : "job claimed to run alone");
    this.#prefetched.set(`${claim.lease.number}.${key}`, id);
  }

  #answeredProbe(nowMs: number, claim: ProbeClaim | null): void {
    if (claim === null) return;
    const { job, lease } = claim;
    const row = this.#parts.watch.committed.jobs.get(job.key);
    if (row !== undefined) this.pauses.checkClaimed(nowMs, row);
    this.#allowed.add(`${hexOf(job.id)}.${lease.number}`);
  }

  #answeredStart({ number }: { number: number }, answer: any): void {
    if (answer.status === "stale") this.#parts.count("stale start refused");
    for (const key of answer.begun) {
      const id = this.#prefetched.get(`${number}.${key}`);
      if (id !== undefined) this.#allowed.add(`${hexOf(id)}.${number}`);
    }
  }

  /** The counts agree with the rows. Due jobs behind a closed gate are held. */
  #checkStats(nowMs: number, stats: any): void {
    const { watch, report } = this.#parts;
    const { jobs, places } = watch.committed;
    const waiting = [...places.values()].flat();
    const inPlace = (name: string): number => waiting.filter(({ place }) => place === name).length;
    const behind = waiting.filter(
      ({ place, type, lane, tenant }) =>
        place === "ready" &&
        (isBehindService(watch.committed, { type, tenant }, nowMs) ||
          [type, lane, tenant].some((name) => isBehindGate(watch.committed, name, nowMs))),
    ).length;
    const states = [...jobs.keys()].map((key) => finalState(watch.committed, key));
    const recount = {
      scheduled: inPlace("scheduled"),
      queued: inPlace("ready") - behind,
      held: inPlace("blocked") + behind,
      running: states.filter((state) => state === null).length - waiting.length,
      failed: states.filter((state) => state === STATE_OF["failed"]).length,
    };
    for (const [name, count] of Object.entries(recount)) {
      if (stats[name] !== count) report("I19", `${stats[name]} jobs are ${name}, not ${count}`);
    }
  }

  /** The record of a job agrees with its rows. */
  #checkRecord(nowMs: number, record: any): void {
    const { watch, report } = this.#parts;
    const { keys, places, attempts, asked, stale } = watch.committed;
    const key = keys.get(hexOf(record.id));
    if (key === undefined) {
      report("I19", `job ${record.id} is shown and does not exist`);
      return;
    }
    const last = attempts.get(key)?.at(-1);
    const place = places.get(key)?.[0]?.place;
    const waits = place === "scheduled" ? "scheduled" : "queued";
    const open = place === undefined ? "running" : waits;
    const over = Object.keys(STATE_OF).find((name) => STATE_OF[name] === last?.state);
    const gate = gateOf(watch.committed, places.get(key)?.[0], nowMs);
    const held = heldWord(watch.committed, gate);
    const isKind = gate !== null && gate <= 0;
    const expected = [
      [over ?? open, last?.tries ?? 0, last?.result ?? null, asked.has(key)],
      [stale.has(key), held],
    ].flat();
    const shown = [
      [record.state, record.attempts, record.result, record.cancelRequested],
      [record.isStale, (isKind ? record.heldBy?.kind : record.heldBy?.name) ?? null],
    ].flat();
    if (JSON.stringify(expected) !== JSON.stringify(shown)) {
      report("I19", `job ${key} is shown as ${String(shown)}, and is ${String(expected)}`);
    }
  }

  /** Notes expired jobs, which may be marked or removed later, even if a clock jumps. */
  #answeredExpired(nowMs: number, stage: RetentionStage, jobs: readonly JobRecord[]): void {
    const { watch, retention, report } = this.#parts;
    for (const { key, id } of jobs) {
      const isDue = retention.isDue(stage, hexOf(id), endOf(watch.committed, key), nowMs);
      if (!isDue) report("I27", `job ${key} is said to be expired (${stage}) before its time`);
      retention.found(stage, hexOf(id));
    }
  }

  #answeredEnqueue(jobs: readonly any[], answers: readonly any[]): void {
    const { watch, report, count } = this.#parts;
    const { committed } = watch;
    answers.forEach((answer, index) => {
      const asked = jobs[index];
      const id = hexOf(answer.id ?? asked.id);
      const row = committed.jobs.get(committed.keys.get(id) ?? 0);
      if (answer.status === "existing") {
        count(`existing by ${answer.by}`);
        if (answer.by === "dedup" && row?.dedup !== asked.dedup.key) {
          report("I9", `job ${id} has not the dedup key that led to it`);
        }
      }
      if (answer.status === "refused") {
        count(
          answer.code === "AFTER_UNKNOWN" ? "job to run after unknown" : "key conflict refused",
        );
        if (committed.keys.has(hexOf(asked.id))) report("I2", `job ${id} was refused and is there`);
      }
      if (answer.status !== "created") return;
      this.acked.set(id, { payload: asked.payload });
      if (row === undefined) {
        report("I1", `job ${id} was acknowledged and is not there`);
        return;
      }
      this.#checkAsked(id, row, asked);
    });
  }

  /** The stored job is the one that was enqueued. */
  #checkAsked(id: string, row: any, asked: any): void {
    const { watch, report } = this.#parts;
    const { names } = watch.committed;
    const stored = [
      row.payload,
      names.get(row.type),
      names.get(row.tenant),
      names.get(row.lane),
      names.get(row.category) ?? null,
      row.priority,
      row.max_attempts,
      row.timeout_ms,
      row.run_at - row.created_at,
      row.concurrency,
    ];
    const wanted = [
      asked.payload,
      asked.type,
      asked.tenant,
      asked.lane,
      asked.category,
      asked.priority,
      asked.maxAttempts,
      asked.timeoutMs,
      asked.due.delayMs ?? row.run_at - row.created_at,
      asked.concurrencyKey,
    ];
    if (JSON.stringify(stored) === JSON.stringify(wanted)) return;
    report("I17", `job ${id} is stored as ${String(stored)}, not ${String(wanted)}`);
  }

  #answeredSettle(items: readonly SettleItem[], answers: readonly SettleAnswer[]): void {
    items.forEach((item, index) => {
      const { watch, report, count } = this.#parts;
      const { key, n, lease } = item;
      const row = watch.committed.attempts.get(key)?.find((attempt) => attempt.n === n);
      if (answers[index] === "stale") count("stale settlement refused");
      if (answers[index] === "stale" && row?.outcome === 4) count("late settlement after a rescue");
      const { children = [] } = item;
      this.notes.checkRefusal(`the end of job ${key}`, children, answers[index]);
      const job = watch.committed.jobs.get(key);
      if (typeof answers[index] === "object" && job !== undefined) {
        this.notes.checkChildren({ key, children, parent: job.id, isSuccess: false });
      }
      if (answers[index] !== "settled") return;
      if (this.#settled.has(`${key}.${n}`)) report("I4", `job ${key} ended run ${n} twice`);
      if (job === undefined) return;
      this.#settled.set(`${key}.${n}`, job.id);
      if (row?.fence !== lease.number) {
        report("I1", `the end of job ${key} was acknowledged, not kept`);
        return;
      }
      this.#checkEnd(item, row, job);
      this.#checkOwnEnd(item, job);
      const hasBegun = this.starts.get(job.id)?.includes(lease.number) === true;
      if (!hasBegun) count("run ended before its handler was called");
    });
  }

  /** The ledger row agrees with the settlement. */
  #checkEnd({ key, n, settlement, children = [] }: SettleItem, row: AttemptRow, job: JobRow): void {
    const { report } = this.#parts;
    const wanted = STATE_OF[settlement.to] ?? null;
    const isCancelled = wanted === null && row.state === STATE_OF["cancelled"];
    if (row.state !== wanted && !isCancelled) {
      report("I4", `run ${n} of job ${key} ended as ${settlement.to}; the ledger has ${row.state}`);
    }
    if ("delayMs" in settlement && row.next_run_at !== null) {
      const waitMs = row.next_run_at - row.finished_at;
      const isKept = waitMs === Math.max(0, Math.round(settlement.delayMs));
      if (!isKept && !(waitMs === 0 && this.#isInVain(settlement))) {
        report("I8", `job ${key} waits ${waitMs} ms, not ${settlement.delayMs}`);
      }
    }
    const isSuccess = settlement.to === "completed" || settlement.to === "completed_with_errors";
    this.notes.checkChildren({ key, children, parent: job.id, isSuccess });
  }

  /** The job was to wait for a service, which has opened before the run ended. */
  #isInVain(settlement: SettleItem["settlement"]): boolean {
    const { breakers, names } = this.#parts.watch.committed;
    const service = awaitedService(settlement);
    if (service === undefined) return false;
    const row = [...breakers.values()].find((each) => names.get(each.service) === service);
    return row?.state === CLOSED || !this.#parts.watch.isAlone;
  }

  /** A run ends as its handler behaves, unless it was ended from outside. */
  #checkOwnEnd({ key, lease, settlement }: SettleItem, job: JobRow): void {
    const { report } = this.#parts;
    const { outcome } = settlement;
    const behaviour = this.#behaved.get(`${job.id}.${lease.number}`);
    if (behaviour === undefined || !OWN_ENDS.has(outcome)) return;
    if (ENDS[behaviour] !== outcome) report("I17", `job ${key} went ${behaviour}: ${outcome}`);
    const isEarly = settlement.tries < job.max_attempts && settlement.to === "failed";
    if (behaviour === "fatal" && settlement.to !== "failed") {
      report("I7", `job ${key} goes on after an error that no retry fixes`);
    }
    if (behaviour !== "fatal" && isEarly) report("I7", `job ${key} has attempts left, and failed`);
  }

  /** A verb has failed. */
  refused(process: Process, verb: Verb, args: readonly any[], error: unknown): void {
    const { watch, report } = this.#parts;
    // A run may end between the read and the write of an operator: a wait cannot be interrupted.
    const isLate = verb === "intervene" && textOf(error).includes("started_at IS NOT NULL");
    if (textOf(error).includes("constraint failed") && !isLate) {
      report("I6", `${verb}: ${textOf(error)}`);
    }
    this.services.refused(verb, args);
    const isPlanted = textOf(error).includes("planted:");
    const isDone = textOf(error).includes("all is written");
    if (isDone) this.pauses.answered(process.clock.now(), verb, args);
    if (!isPlanted || isDone) return;
    for (const { id } of enqueuedBy(verb, args)) {
      const hex = hexOf(id);
      if (watch.committed.keys.has(hex) && !this.acked.has(hex)) {
        report("I2", `job ${id} was refused and is there`);
      }
    }
  }

  /** Acknowledged changes survive a loss of power. */
  checkSurvived(): void {
    const { watch, report } = this.#parts;
    const { keys, attempts } = watch.committed;
    for (const id of this.acked.keys()) {
      if (!keys.has(id) && !watch.pruned.has(id)) report("I1", `job ${id} was lost with the power`);
    }
    for (const [run, id] of this.#settled) {
      const [key, n] = run.split(".").map(Number);
      const isKept = attempts.get(key ?? 0)?.some((row) => row.n === n);
      if (!isKept && !watch.pruned.has(id)) report("I4", `the end of run ${run} was lost`);
    }
  }

  /** A start that was not synced is lost with the power, and its run is not charged. */
  forgetLostStarts({ held, jobs }: Snapshot): void {
    for (const { key, fence, start } of [...held.values()].flat()) {
      const fences = this.starts.get(jobs.get(key)?.id ?? "");
      if (start !== null || fences === undefined) continue;
      this.starts.set(
        jobs.get(key)?.id ?? "",
        fences.filter((known) => known !== fence),
      );
    }
  }

  /** The behaviour of a run changes; null: its outcome is unknown. */
  turns({ id, fence }: Pick<Actor, "id" | "fence">, behaviour: Behaviour | null): void {
    if (behaviour === null) this.#behaved.delete(`${id}.${fence}`);
    else this.#behaved.set(`${id}.${fence}`, behaviour);
  }

  /** A handler begins. */
  began(
    { id, fence, hasStopped }: { id: string; fence: number; hasStopped: boolean },
    behaviour: Behaviour,
    payload: Payload,
  ): void {
    this.starts.set(id, [...(this.starts.get(id) ?? []), fence]);
    this.turns({ id, fence }, behaviour);
    const { watch, report, count } = this.#parts;
    const { committed } = watch;
    const accepted = this.acked.get(id)?.payload;
    if (accepted !== undefined && accepted !== JSON.stringify(payload)) {
      report("I17", `a handler of job ${id} was given another payload`);
    }
    if (!this.#allowed.has(`${id}.${fence}`)) {
      report("I8", `job ${id} began, and the store has not allowed it`);
    }
    if (hasStopped) report("I24", `job ${id} began after its worker had stopped`);
    const job = committed.jobs.get(committed.keys.get(id) ?? 0);
    if (job === undefined) return;
    const held = committed.held.get(job.key)?.find((run) => run.fence === fence);
    if (held?.start === null) report("I7", `job ${job.key} began, and the store does not know`);
    if (held !== undefined) return;
    const isEnded = committed.attempts.get(job.key)?.some((row) => row.fence === fence);
    if (isEnded) count("zombie began a run that was already ended");
    else report("I8", `job ${job.key} began without a lease on it`);
  }
}

/** What holds a job back: a kind, or the name of a gate. */
/** What holds a waiting job back: where it is, or the closed gate that it has not been moved to. */
function gateOf(now: Snapshot, row: PlaceRow | undefined, nowMs: number): number | null {
  if (row === undefined || row.place !== "ready") return row?.gate ?? null;
  const paused = [row.type, row.lane, row.tenant].filter((name) => isBehindGate(now, name, nowMs));
  const parked = parksOf(now, row, nowMs).map((park) => park.gate);
  const closed = [...paused, ...openServices(now, row), ...parked];
  return closed.length === 0 ? null : Math.min(...closed);
}

function heldWord({ names, parks }: Snapshot, gate: number | null): string | null {
  if (gate === 0) return "after";
  if (gate === -1) return "key";
  if (isLimitGate(gate)) return "limit";
  const name = names.get(gate ?? 0) ?? null;
  // The name of the pause of a service for one tenant begins with the number of the tenant.
  const isOfTenant = (parks.get(gate ?? 0)?.tenant ?? null) !== null;
  return isOfTenant ? (name?.slice(name.indexOf(".") + 1) ?? null) : name;
}

/** What an error says, without the folder of this run. */
export function textOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\S*millrace-simulation-\w+\//g, "");
}

function enqueuedBy(verb: Verb, args: readonly any[]): readonly { readonly id: JobId }[] {
  if (verb === "retryAsNew") return [args[0]];
  return verb === "enqueue" ? args[0] : [];
}
