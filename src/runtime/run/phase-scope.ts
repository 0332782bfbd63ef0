/**
 * The part of a run that one context belongs to: a phase, or the whole run of a plain handler.
 * Calls through the context belong to this part, and are refused after its end.
 */
import type { Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JsonText } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import { encodePayload, type Encoded, type Json } from "../../core/payload.ts";
import { shown } from "../../core/text.ts";
import type { Context, Logger } from "../../api/context.ts";
import { anObject, must } from "../../api/rules.ts";
import type { ClaimedJob, NewJob } from "../../store/types/jobs-and-runs.ts";
import { RunAborted, RunOver, type RunNotes } from "../notes/run-notes.ts";
import { Children, childrenOfUnit } from "./children.ts";
import { each, isUnwinding, step, type UnitParts } from "./units.ts";

type AnyContext = Context<unknown, unknown>;

/** Progress is reported often, and every listener gets all of it. */
const PROGRESS_BYTES_MAX = 65_536;
/** After this time a warning says why the run does not end. */
const JOIN_WARNING_MS = 5_000;
/** How many units a warning names. */
const NAMES_MAX = 10;

export interface PhaseScopeParts {
  readonly job: ClaimedJob;
  /** The signal of the handler. */
  readonly signal: AbortSignal;
  /** The signal of the run: an expired lease does not abort it. */
  readonly runSignal: AbortSignal;
  /** Whether an error is an effect of the interruption of the run. */
  isInterrupted(error: unknown): boolean;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Made at the first use. */
  readonly runNotes: RunNotes;
  /** Makes the child job of a `ctx.enqueue`. */
  readonly newChild: (
    parent: ClaimedJob,
    ...request: Parameters<AnyContext["enqueue"]>
  ) => Promise<NewJob>;
  /** Classifies a thrown value. */
  faultOf(error: unknown): Fault;
}

export class PhaseScope {
  readonly #run: PhaseScopeParts;
  readonly #phase: string | null;
  readonly #children = new Children();
  readonly #id = Symbol("phaseScope");
  /** Calls of `step`, `each` and `enqueue` that have not ended, and the promises of the callers. */
  readonly #pending = new Map<Promise<unknown>, Promise<unknown>>();
  /** Units whose function is running. */
  readonly #running = new Set<string>();
  /** Closing: the run ends badly, and its units under way are joined. */
  #state: "open" | "closing" | "over" = "open";

  constructor(run: PhaseScopeParts, phase: string | null) {
    this.#run = run;
    this.#phase = phase;
  }

  /** From now on calls are refused. */
  end(): void {
    this.#state = "over";
  }

  /**
   * The run ends badly: no unit begins. Resolves when the units under way have ended; null: there
   * are none. A unit under way may still complete, with its progress and its children.
   */
  close(): Promise<void> | null {
    if (this.#state === "open") this.#state = "closing";
    // The handler has ended: no other code may be left that handles the errors of its units.
    for (const answer of this.#pending.values()) answer.catch((error) => this.#logLate(error));
    return this.#pending.size === 0 ? null : this.#joinLate();
  }

  /** The units whose function is running, for a warning. */
  get unitsUnderWay(): readonly string[] {
    const names = [...this.#running].slice(0, NAMES_MAX).map((unit) => `unit ${shown(unit)}`);
    const more = this.#running.size - names.length;
    return more === 0 ? names : [...names, `${more} more units`];
  }

  /** Children of the handler, without those of units. They are enqueued if the handler succeeds. */
  get children(): readonly NewJob[] {
    return this.#children.children;
  }

  /**
   * Resolves when all calls that the handler did not await have ended; null: there are none.
   * Rejects if one of them ends the whole run.
   */
  get unitsLeft(): Promise<void> | null {
    return this.#pending.size === 0 ? null : this.#joinUnits();
  }

  enqueue: AnyContext["enqueue"] = (...request) => {
    const { job, newChild } = this.#run;
    const unit = childrenOfUnit(this.#id);
    const child = this.#adopt(unit, newChild(job, ...request));
    unit?.expect(child);
    return this.#watched(child);
  };

  async #adopt(
    unit: Children | undefined,
    request: Promise<NewJob>,
  ): Promise<{ readonly id: string; readonly type: string }> {
    const child = await request;
    if (unit === undefined) this.#insistOpen("ctx.enqueue");
    else this.#insistNotOver("ctx.enqueue");
    const children = unit ?? this.#children;
    children.add(child, this.#run.job.type);
    return { id: child.id, type: child.type };
  }

  progress: AnyContext["progress"] = (percent, data, options = {}) => {
    const stored = this.#report(percent, data, options);
    // Handlers need not await progress: the failure must not count as unhandled.
    stored.catch(() => {});
    return stored;
  };

  step: AnyContext["step"] = (name, fn) => this.#watched(step(this.#unitParts, name, fn));

  each: AnyContext["each"] = (items, key, fn, options = {}) =>
    this.#watched(each(this.#unitParts, { items, key, fn, options }));

  get #unitParts(): UnitParts {
    const { runNotes, signal, runSignal } = this.#run;
    const faultOf = (error: unknown): Fault => this.#run.faultOf(error);
    return {
      runNotes,
      signal,
      runSignal,
      isInterrupted: (error) => this.#run.isInterrupted(error),
      faultOf,
      phase: this.#phase ?? "",
      phaseScope: this.#id,
      running: this.#running,
      insistOpen: (verb) => this.#insistOpen(verb),
    };
  }

  /** The caller has a promise of its own: its rejection is unhandled if the caller forgets it. */
  #watched<Answer>(work: Promise<Answer>): Promise<Answer> {
    const answer = work.then((value) => value);
    const forget = (): void => void this.#pending.delete(work);
    work.then(forget, forget);
    this.#pending.set(work, answer);
    return answer;
  }

  async #joinUnits(): Promise<void> {
    const { job, logger, clock } = this.#run;
    const stopTimer = clock.after(JOIN_WARNING_MS, () => {
      const message = "the handler has returned; the run waits for calls that it did not await";
      logger.warn(message, { job_id: job.id, type: job.type });
    });
    try {
      while (this.#pending.size > 0) {
        for (const end of await Promise.allSettled(this.#pending.keys())) {
          if (end.status === "fulfilled") continue;
          if (this.#run.isInterrupted(end.reason) || isUnwinding(end.reason)) throw end.reason;
        }
      }
    } finally {
      stopTimer();
    }
  }

  async #joinLate(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending.keys());
  }

  #logLate(error: unknown): void {
    const { job, logger } = this.#run;
    const message = "a call of ctx ended with an error after its run had failed";
    logger.debug(message, { job_id: job.id, type: job.type, error });
  }

  /** Not async: without an await, the data must not stay in memory until the store answers. */
  #report(
    percent: number,
    data: Json | undefined,
    options: { readonly flush?: boolean },
  ): Promise<void> {
    try {
      this.#insistNotOver("ctx.progress");
      checkPercent(percent);
      checkOptions(options);
      const report = { percent, data: progressText(data), flush: options.flush === true };
      return this.#run.runNotes.reportProgress(this.#phase, report);
    } catch (error) {
      this.#logRefusal(error);
      return Promise.reject(error);
    }
  }

  /** Without an await in the handler, the error would be invisible. */
  #logRefusal(error: unknown): void {
    if (!(error instanceof MillraceError) || error.code !== "PROGRESS_REFUSED") return;
    const { logger, job } = this.#run;
    logger.warn(error.message, { job_id: job.id, type: job.type });
  }

  /** Throws if no unit may begin. */
  #insistOpen(verb: string): void {
    const { signal, job } = this.#run;
    if (this.#state === "closing") throw new RunAborted(job, signal.reason, verb);
    this.#insistNotOver(verb);
  }

  #insistNotOver(verb: string): void {
    if (this.#state !== "over") return;
    const place = this.#phase === null ? "" : `in phase ${shown(this.#phase)} `;
    throw new RunOver(this.#run.job, `${place}has ended: await ${verb}`);
  }
}

function checkPercent(percent: unknown): void {
  if (typeof percent === "number" && percent >= 0 && percent <= 100) return;
  throw refused(`ctx.progress: the percent must be a number from 0 to 100, not ${shown(percent)}`);
}

const OPTIONS = anObject(
  { required: {}, optional: { flush: must(isBoolean, "true or false") } },
  "an object such as { flush: true }",
);

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function checkOptions(options: unknown): void {
  const mismatch = OPTIONS(options, "");
  if (mismatch === null) return;
  const { place, problem } = mismatch;
  throw refused(`ctx.progress: ${`${place} ${problem}`.trimStart()}`);
}

/** The data of a progress report, as it is stored. */
function progressText(data: Json | undefined): JsonText | null {
  const { text, bytes } = encodedData(data);
  if (bytes <= PROGRESS_BYTES_MAX) return text;
  throw refused(`ctx.progress: data has at most ${PROGRESS_BYTES_MAX} bytes as JSON, not ${bytes}`);
}

function encodedData(data: Json | undefined): Encoded {
  try {
    return encodePayload(data);
  } catch (error) {
    const { path, reason } = error instanceof MillraceError ? error.details : {};
    throw refused(`ctx.progress: ${String(path).replace("payload", "data")} ${String(reason)}`);
  }
}

function refused(message: string): MillraceError {
  return new MillraceError("PROGRESS_REFUSED", message);
}
