/** Running jobs: what `mill.work` takes and answers. */
import type { Duration } from "../core/duration.ts";
import type { Preset } from "../core/presets.ts";
import type { Job } from "./job.ts";
import type { RetentionOptions } from "./retention.ts";
import type { Schedule } from "./schedule.ts";

export type WorkOptions<J extends readonly AnyJob[]> = {
  readonly jobs: J;
  /** Slots by lane. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Which of `jobs` this process runs. Default: all. */
  readonly types?: readonly J[number]["type"][];
  /** Only jobs of this tenant. */
  readonly tenant?: string;
  readonly schedules?: readonly Schedule[];
  /**
   * How long finished jobs stay, over the numbers of the preset. Give all workers of a database the
   * same: each of them sweeps.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const thumbnail = defineJob({ type: "thumbnail" }).run(() => "/a.png");
   * const archive: string[] = [];
   * const retention = {
   *   staleAfter: "1h",
   *   deleteAfter: "1d",
   *   states: { failed: { staleAfter: "30d" } },
   *   onStale: ({ id }: { id: string }) => archive.push(id),
   * } as const;
   *
   * await using test = await createTestMill();
   * const { mill, drain, advance } = test;
   * const job = await mill.enqueue(thumbnail);
   * await drain([thumbnail], { retention });
   *
   * await advance("2h");
   * await drain([thumbnail], { retention });
   * assert.equal((await mill.jobs.get(job.id)).stale, true);
   * assert.deepEqual(archive, [job.id]);
   *
   * await advance("1d");
   * await drain([thumbnail], { retention });
   * await assert.rejects(mill.jobs.get(job.id), { code: "JOB_NOT_FOUND" });
   * ```
   */
  readonly retention?: RetentionOptions;
  /** Numbers of one of the presets instead of the library's own. */
  readonly preset?: Preset;
  /** How long a silent worker keeps its jobs; renewed at a third. Default 30 s. */
  readonly lease?: Duration;
  /** How often to look for work when nothing wakes it. Default 1 s. */
  readonly poll?: Duration;
  /** Most jobs to take in one claim. */
  readonly batch?: number;
  /** How long a stop lets running jobs go on. Default 25 s. */
  readonly grace?: Duration;
  /**
   * Stop gracefully on SIGTERM and SIGINT. The CLI sets it; a library must not touch signals
   * unasked.
   */
  readonly signals?: boolean;
} & ({} extends AllDeps<J> ? { readonly deps?: AllDeps<J> } : { readonly deps: AllDeps<J> });

export interface Worker extends AsyncDisposable {
  readonly id: string;
  readonly ready: Promise<void>;
  /** Takes no new work, lets running jobs end within `grace`, hands the rest back uncharged. */
  stop(options?: { grace?: Duration }): Promise<void>;
  /** Takes no new work and keeps what it has. */
  quiet(): Promise<void>;
}

export type AnyJob = Job<string, any, any, any>;

/** The dependencies of all jobs together: a union in argument position becomes an intersection. */
type AllDeps<J extends readonly AnyJob[]> =
  DepsOf<J[number]> extends (deps: infer D) => void ? D : never;

type DepsOf<J> = J extends Job<string, any, any, infer D> ? (deps: D) => void : never;
