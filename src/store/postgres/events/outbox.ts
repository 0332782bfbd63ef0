/**
 * Collects the events of one transaction, its wake-up and its dependency task. The events are
 * written to the outbox table before the commit; the wake-up is published and the dependency task
 * started after the commit. Consecutive events of one kind share a row. Rolling back to a savepoint
 * drops the events added since. A verb that is one statement writes its own outbox row.
 */
import type { JobId, JsonText } from "../../../core/job.ts";
import { eventCodec } from "../../shared/codes.ts";
import { feedRows, wakeUpAfter, type OutboxEvent } from "../../shared/events/event-rows.ts";
import type { WakeUp } from "../../store.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { DependencyTask } from "../queue/dependency-tasks.ts";
import { failureOf } from "../database/errors.ts";
import type { Sql } from "../database/statements.ts";
import { uuidOf } from "../database/values.ts";

interface EventBatch {
  readonly kind: number;
  readonly keys?: readonly JobKey[];
  readonly ids?: readonly string[];
  readonly details?: readonly JsonText[];
}

export class Outbox {
  #events: OutboxEvent[] = [];
  #wakeUp: WakeUp | null = null;
  #hasReturned = false;
  #dependencyTask: DependencyTask | null = null;

  /** Adds an event. Jobs that are removed are named by id, all others by key. */
  add(event: OutboxEvent): void {
    if (event.jobs.length === 0) return;
    this.#events.push(event);
    this.#wakeUp = wakeUpAfter(this.#wakeUp, event);
  }

  /** Workers should claim again. */
  wake(): void {
    this.#wakeUp = "work";
  }

  /** The same for jobs that claims have passed: a lock was released, or a job returns. */
  wakeForReturned(): void {
    this.#hasReturned = true;
    this.wake();
  }

  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  /** The wake-up to publish after the commit. */
  get wakeUp(): WakeUp | null {
    return this.#wakeUp;
  }

  /** Jobs have finished that other jobs depend on. */
  addAwaited(): void {
    this.#dependencyTask = { dependants: this.#dependencyTask?.dependants ?? [], isAwaited: true };
  }

  /** New jobs with dependencies, some of which may be final already. */
  addDependants(jobs: readonly JobKey[]): void {
    const { dependants = [], isAwaited = false } = this.#dependencyTask ?? {};
    this.#dependencyTask = { dependants: [...dependants, ...jobs], isAwaited };
  }

  /** The task to run after the commit. */
  get dependencyTask(): DependencyTask | null {
    return this.#dependencyTask;
  }

  /** A position for {@link rollBackTo}. */
  savepoint(): number {
    return this.#events.length;
  }

  rollBackTo(savepoint: number): void {
    this.#events.length = savepoint;
  }

  /** Writes the outbox rows, inside the transaction. */
  async write(sql: Sql): Promise<void> {
    const batches = feedRows(this.#events).map(({ kind, jobs, details }): EventBatch => {
      const detailed = details === null ? {} : { details };
      return { kind: eventCodec.code[kind], ...jobsOf(jobs), ...detailed };
    });
    if (batches.length > 0) await sql.run("append_events", { batches: JSON.stringify(batches) });
  }
}

function jobsOf(jobs: readonly (JobKey | JobId)[]): Pick<EventBatch, "keys" | "ids"> {
  const ids = jobs.filter((job) => typeof job === "string");
  if (ids.length > 0) return { ids: ids.map(uuidOf) };
  return { keys: jobs.filter((job) => typeof job === "number") };
}

/** Runs a part of a transaction. If a value is refused, `refused` answers, without its events. */
export async function inSavepoint<Answer>(
  sql: Sql,
  outbox: Outbox,
  work: () => Promise<Answer>,
  refused: (error: unknown) => Answer,
): Promise<Answer> {
  const savepoint = outbox.savepoint();
  await sql.run("save_part", {});
  try {
    const answer = await work();
    await sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
    await sql.run("undo_part", {});
    await sql.run("keep_part", {});
    outbox.rollBackTo(savepoint);
    return refused(error);
  }
}
