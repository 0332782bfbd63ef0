/**
 * The stretch of a run that one context belongs to: a phase, or all of a plain handler. What a
 * handler says through its context counts for that stretch, and for none after it.
 */
import type { Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JsonText } from "../../core/job.ts";
import type { Fault } from "../../core/outcome.ts";
import { encodePayload, type Encoded, type Json } from "../../core/payload.ts";
import { shown } from "../../core/text.ts";
import type { Context, Logger } from "../../api/context.ts";
import type { ClaimedJob, NewJob } from "../../store/types/jobs-and-runs.ts";
import { RunOver, type RunNotes } from "../notes/run-notes.ts";
import { Children, childrenHere } from "./children.ts";
import { each, isUnwinding, step, type UnitParts } from "./units.ts";

type Told = Context<unknown, unknown>;

/** Progress is told often, and everybody who listens hears all of it. */
const PROGRESS_BYTES_MAX = 65_536;
/** After this long, somebody should know why a run does not end. */
const JOIN_MS_LONG = 5_000;

export interface PhaseScopeParts {
  readonly job: ClaimedJob;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Made when it is needed for the first time. */
  readonly runNotes: RunNotes;
  /** Makes the child that a run asks for. */
  readonly newChild: (
    parent: ClaimedJob,
    ...request: Parameters<Told["enqueue"]>
  ) => Promise<NewJob>;
  /** How a thrown value counts. */
  faultOf(error: unknown): Fault;
}

export class PhaseScope {
  readonly #run: PhaseScopeParts;
  readonly #phase: string | null;
  readonly #children = new Children();
  readonly #mark = Symbol("phaseScope");
  /** Steps, calls of `each` and requests for children that have not ended. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(run: PhaseScopeParts, phase: string | null) {
    this.#run = run;
    this.#phase = phase;
  }

  /** From now on nothing is taken. */
  end(): void {
    this.#isOver = true;
  }

  /** Jobs that the handler asked for, outside of units: they come into being if it ends well. */
  get children(): readonly NewJob[] {
    return this.#children.children;
  }

  /**
   * What nobody has waited for; null: there is nothing. Rejects with what ends the whole run, if
   * that came to pass in there.
   */
  get unitsLeft(): Promise<void> | null {
    return this.#underWay.size === 0 ? null : this.#joinUnits();
  }

  enqueue: Told["enqueue"] = async (...request) => {
    const { job, newChild } = this.#run;
    const unit = childrenHere(this.#mark);
    const child = this.#adopt(unit ?? this.#children, newChild(job, ...request));
    unit?.expect(child);
    return this.#watched(child);
  };

  async #adopt(
    children: Children,
    request: Promise<NewJob>,
  ): Promise<{ readonly id: string; readonly type: string }> {
    const child = await request;
    this.#insistOpen("ctx.enqueue");
    children.add(child, this.#run.job.type);
    return { id: child.id, type: child.type };
  }

  progress: Told["progress"] = (percent, data) => {
    const told = this.#tell(percent, data);
    // It need not be awaited: then its failure must not count as unhandled.
    told.catch(() => {});
    return told;
  };

  step: Told["step"] = async (name, fn) => {
    this.#insistOpen("ctx.step");
    return this.#watched(step(this.#unitParts, name, fn));
  };

  each: Told["each"] = async (items, key, fn, options = {}) => {
    this.#insistOpen("ctx.each");
    return this.#watched(each(this.#unitParts, { items, key, fn, options }));
  };

  get #unitParts(): UnitParts {
    const { runNotes, signal } = this.#run;
    const faultOf = (error: unknown): Fault => this.#run.faultOf(error);
    return { runNotes, signal, faultOf, phase: this.#phase ?? "", phaseScope: this.#mark };
  }

  #watched<Answer>(work: Promise<Answer>): Promise<Answer> {
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    this.#underWay.add(work);
    return work;
  }

  async #joinUnits(): Promise<void> {
    const { job, logger, clock, signal } = this.#run;
    const stopTimer = clock.after(JOIN_MS_LONG, () => {
      const message = "a handler has ended, and waits for units that it did not await";
      logger.warn(message, { job_id: job.id, type: job.type });
    });
    try {
      while (this.#underWay.size > 0) {
        for (const end of await Promise.allSettled(this.#underWay)) {
          if (end.status === "fulfilled") continue;
          if (signal.aborted || isUnwinding(end.reason)) throw end.reason;
        }
      }
    } finally {
      stopTimer();
    }
  }

  /** Not async: whoever does not wait must not keep what it told until the store has answered. */
  #tell(percent: number, data: Json | undefined): Promise<void> {
    try {
      this.#insistOpen("ctx.progress");
      checkPercent(percent);
      return this.#run.runNotes.tell(this.#phase, percent, progressText(data));
    } catch (error) {
      this.#complain(error);
      return Promise.reject(error);
    }
  }

  /** A mistake that nobody waits for would otherwise never be seen. */
  #complain(error: unknown): void {
    if (!(error instanceof MillraceError) || error.code !== "PROGRESS_REFUSED") return;
    const { logger, job } = this.#run;
    logger.warn(error.message, { job_id: job.id, type: job.type });
  }

  #insistOpen(verb: string): void {
    if (!this.#isOver) return;
    const stretch = this.#phase === null ? "" : `in phase ${shown(this.#phase)} `;
    throw new RunOver(this.#run.job, `${stretch}has ended: await ${verb}`);
  }
}

function checkPercent(percent: unknown): void {
  if (typeof percent === "number" && percent >= 0 && percent <= 100) return;
  throw refused(`ctx.progress: the percent must be a number from 0 to 100, not ${shown(percent)}`);
}

/** What is told besides the percent, as it is stored. */
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
