/**
 * What one transaction has to tell: to the feed, durably, and to whoever listens for work; and what
 * it leaves to be done.
 * Neighbours of the same kind share one row of the outbox, and a part that is undone takes its
 * words with it. A verb that is one statement writes its row of the outbox itself.
 */
import type { JobId, JsonText } from "../../../core/job.ts";
import { eventCodec } from "../../shared/codes.ts";
import { feedRows, type OutboxEvent } from "../../shared/event-rows.ts";
import type { WakeUp } from "../../store.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { DependencyTask } from "../queue/dependency-tasks.ts";
import type { Sql } from "../database/statements.ts";
import { uuidOf } from "../database/values.ts";

interface Batch {
  readonly kind: number;
  readonly keys?: readonly JobKey[];
  readonly ids?: readonly string[];
  readonly details?: readonly JsonText[];
}

export class Outbox {
  #entries: OutboxEvent[] = [];
  #wakeUp: WakeUp | null = null;
  #dependencyTask: DependencyTask | null = null;

  /** Something happened to these jobs. Those that go leave only their ids behind. */
  tell(entry: OutboxEvent): void {
    if (entry.jobs.length === 0) return;
    this.#entries.push(entry);
    this.#wakeUp ??= "events";
  }

  /** Somebody who waits for work should look again. */
  wake(): void {
    this.#wakeUp = "work";
  }

  /** What those who listen should be told after the commit. */
  get wakeUp(): WakeUp | null {
    return this.#wakeUp;
  }

  /** Jobs have ended that others wait for. */
  leaveAwaited(): void {
    this.#dependencyTask = { dependants: this.#dependencyTask?.dependants ?? [], isAwaited: true };
  }

  /** New jobs wait for others. */
  leaveDependants(jobs: readonly JobKey[]): void {
    const { dependants = [], isAwaited = false } = this.#dependencyTask ?? {};
    this.#dependencyTask = { dependants: [...dependants, ...jobs], isAwaited };
  }

  /** What is to be done after the commit. */
  get dependencyTask(): DependencyTask | null {
    return this.#dependencyTask;
  }

  /** Where the words of a part begin that may have to be dropped. */
  mark(): number {
    return this.#entries.length;
  }

  dropSince(mark: number): void {
    this.#entries.length = mark;
  }

  /** Writes the rows of the outbox, inside the transaction. */
  async write(sql: Sql): Promise<void> {
    const batches = feedRows(this.#entries).map(({ kind, jobs, details }): Batch => {
      const told = details === null ? {} : { details };
      return { kind: eventCodec.code[kind], ...named(jobs), ...told };
    });
    if (batches.length > 0) await sql.run("append_events", { batches: JSON.stringify(batches) });
  }
}

function named(jobs: readonly (JobKey | JobId)[]): Pick<Batch, "keys" | "ids"> {
  const ids = jobs.filter((job) => typeof job === "string");
  if (ids.length > 0) return { ids: ids.map(uuidOf) };
  return { keys: jobs.filter((job) => typeof job === "number") };
}
