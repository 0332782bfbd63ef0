/** The client: all of an opened Millrace but workers. */
import type { Clock, Dice } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { idSource } from "../core/ids.ts";
import type { JobId } from "../core/job.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Preset } from "../core/presets.ts";
import { Feed } from "../events/feed.ts";
import type {
  DeadLetters,
  Jobs,
  Millrace,
  Pause,
  PauseTarget,
  QueuedCount,
  Resumed,
  WaitOptions,
  Workers,
} from "../api/client.ts";
import type { Logger } from "../api/context.ts";
import type { JobContract, JobRequest } from "../api/contract.ts";
import {
  definitionOf,
  requestOf,
  type AnyContract,
  type Definition,
  type RequestParts,
} from "../api/definition.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "../api/enqueue.ts";
import type { Events } from "../api/events.ts";
import { aName } from "../api/rules.ts";
import { allOf } from "../lib/maybe-promise.ts";
import { sturdyLogger } from "../lib/stderr-logger.ts";
import type { EnqueueAnswer, NewJob } from "../store/types/jobs-and-runs.ts";
import type { FinalJob, GateName } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { currentJob } from "../jobs/async-context.ts";
import { allEnqueued, atRequest, enqueuedOf } from "../jobs/enqueue-result.ts";
import { makeDeadLetters } from "./dead-letters.ts";
import { EndWatch } from "./end-watch.ts";
import { eventsFrom } from "./events.ts";
import { feedOrderedStore } from "./feed-ordered-store.ts";
import { makeJobs } from "./jobs.ts";
import { newJobOf, type JobDefaults } from "../jobs/new-job.ts";
import { failedUnitsOf } from "./progress.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { checkRemark, insistOn } from "../jobs/check-text.ts";
import { commonTx, withoutTx } from "./transaction.ts";
import { finishedOf, resultOf, untilFinal } from "./waiting.ts";
import { idOf, notFound, pauseView, refId, workerView, type NotFound } from "../jobs/views.ts";

const WORKERS_MAX = 1_000;
/** The rows of each place that `resume` and `pauses` read to count jobs, over all pauses. */
const QUEUED_MAX = 100_000;

export interface ClientParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly logger: Logger;
  readonly tenant: string;
  readonly preset: Preset;
}

/** {@link Millrace} without `work`, which needs the runtime. */
export class Client implements Omit<Millrace, "work"> {
  readonly parts: ClientParts;
  /** What new jobs get that neither request nor definition says. */
  readonly jobDefaults: JobDefaults;
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly workers: Workers;
  readonly #events: Feed;
  readonly #endWatch: EndWatch;
  /** The retry policy by type, as far as this process has definitions. */
  readonly #policies = new Map<string, RetryPolicy>();
  /** The phases by type, likewise. */
  readonly #phases = new Map<string, readonly string[]>();
  /** Types whose new attempts and successors keep no checkpoints, likewise. */
  readonly #restarting = new Set<string>();
  readonly #notFound: NotFound = (id) => notFound(id, this.#keptMs);
  /** The retention periods of finished jobs, as far as this process knows. */
  #keptMs: readonly number[];
  readonly #closing = new AbortController();
  readonly #waits = new Set<Promise<FinalJob>>();

  constructor(given: ClientParts) {
    const parts = {
      ...given,
      logger: sturdyLogger(given.logger),
      store: feedOrderedStore(given.store, () => this.#events.beginning),
    };
    const { store, clock, dice, logger } = parts;
    this.parts = parts;
    this.#keptMs = Object.values(parts.preset.retention.finishedMs);
    const newId = idSource(clock, dice);
    this.jobDefaults = { newId, tenant: parts.tenant, preset: parts.preset };
    const onFeedError = (error: unknown): void => {
      logger.warn("cannot read the feed; trying again", { error });
    };
    this.#events = new Feed(given.store, clock, onFeedError);
    this.#endWatch = new EndWatch(given.store, clock);
    this.jobs = makeJobs({
      store,
      newId,
      random: () => dice.random(),
      now: () => clock.now(),
      policyOf: (type) => this.#policies.get(type) ?? parts.preset.retry,
      phasesOf: (type) => this.#phases.get(type) ?? [],
      restarts: (type) => parts.preset.onRetry === "restart" || this.#restarting.has(type),
      notFound: this.#notFound,
    });
    this.deadLetters = makeDeadLetters(store, newId);
    this.workers = {
      list: async () =>
        (await store.workers(WORKERS_MAX)).map((worker) => workerView(worker, clock.now())),
      async quiet(id) {
        if (await store.quiet(idOf(id, "worker"))) return;
        throw new MillraceError("WORKER_NOT_FOUND", `there is no worker ${id}`);
      },
    };
  }

  async enqueue<Input, R>(
    contract: JobContract<string, Input, R>,
    ...[payload, options = {}]: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>> {
    const { job, tx } = await this.#prepare({ contract, payload, options });
    const [answer] = await this.#store([job], tx);
    if (answer === undefined) throw new Error("the store gave no answer");
    const enqueued: Enqueued<any> = enqueuedOf(answer, job);
    return enqueued;
  }

  async enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }> {
    const prepared = await allOf(requests.map((request, index) => this.#prepareAt(request, index)));
    const jobs = prepared.map(({ job }) => job);
    const answers = await this.#store(jobs, commonTx(prepared));
    const results: readonly any[] = allEnqueued(answers, jobs);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- One result per request.
    return results as { [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never };
  }

  async wait<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<Finished<R>> {
    const final = await this.#untilFinal(refId("wait", job), options);
    const hasFailedUnits = final.state === "completed_with_errors";
    return finishedOf(final, hasFailedUnits ? await failedUnitsOf(this.parts.store, final.id) : 0);
  }

  async result<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<R> {
    const result: any = resultOf(await this.#untilFinal(refId("result", job), options));
    return result;
  }

  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => unknown): () => void {
    return eventsFrom(this.#events, event, listener, (error) => {
      this.parts.logger.error(`a listener of ${event} failed`, { error });
    });
  }

  async pause(target: PauseTarget, reason: string, by?: { actor: string }): Promise<void> {
    checkRemark("pause", "reason", reason);
    if (by !== undefined) checkRemark("pause", "actor", by.actor);
    await this.parts.store.pause(gateOf("pause", target), { reason, by: by?.actor ?? null });
  }

  async resume(target: PauseTarget): Promise<Resumed> {
    const gate = gateOf("resume", target);
    // Beside the resume, which neither waits for the count nor fails with it.
    const uncounted = { queued: 0, atLeast: true };
    const counting = this.#countBehind(gate).catch(() => uncounted);
    const wasPaused = await this.parts.store.resume(gate);
    return { wasPaused, ...(await counting) };
  }

  async pauses(): Promise<readonly Pause[]> {
    const pauses: Pause[] = [];
    const { store } = this.parts;
    const gates = await store.gates();
    const rows = Math.ceil(QUEUED_MAX / gates.length);
    for (const gate of gates) pauses.push(pauseView(gate, await store.countBehind(gate, rows)));
    return pauses;
  }

  async #countBehind(gate: GateName): Promise<QueuedCount> {
    const { jobs, isExact } = await this.parts.store.countBehind(gate, QUEUED_MAX);
    return { queued: jobs, atLeast: !isExact };
  }

  /** Every pending `wait` reads its job once more, then ends with STORE_CLOSED. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#waits);
    this.#events.close();
    await this.parts.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Remembers retry policies, for failures that an operator records, and phases, for the progress
   * of jobs that have not begun.
   */
  learn(definitions: Iterable<Definition>, retry: RetryPolicy): void {
    for (const definition of definitions) {
      this.#policies.set(definition.type, policyOf(retry, definition.settings));
      this.#learnBody(definition);
    }
  }

  /** Remembers the retention periods of workers that were started here. */
  learnRetention(keptMs: readonly number[]): void {
    this.#keptMs = keptMs;
  }

  #learnBody({ type, body, settings }: Definition): void {
    if (settings.onRetry === "restart") this.#restarting.add(type);
    if (body.kind !== "phases") return;
    this.#phases.set(
      type,
      body.phases.map(({ name }) => name),
    );
  }

  async #untilFinal(id: JobId, options: WaitOptions): Promise<FinalJob> {
    const { store, clock } = this.parts;
    const closing = this.#closing.signal;
    const parts = { store, clock, endWatch: this.#endWatch, closing, notFound: this.#notFound };
    const wait = untilFinal(parts, id, options);
    this.#waits.add(wait);
    try {
      return await wait;
    } finally {
      this.#waits.delete(wait);
    }
  }

  #prepareAt(request: JobRequest<unknown>, index: number): PreparedJob | Promise<PreparedJob> {
    const refuse = (error: unknown): never => {
      throw atRequest(index, error);
    };
    try {
      const prepared = this.#prepare(requestOf(request));
      return prepared instanceof Promise ? prepared.catch(refuse) : prepared;
    } catch (error) {
      return refuse(error);
    }
  }

  #prepare(request: RequestParts): PreparedJob | Promise<PreparedJob> {
    const { tx, request: plain } = withoutTx(request);
    const job = newJobOf(plain, { ...this.jobDefaults, running: currentJob() });
    this.#learnOnce(request.contract);
    return job instanceof Promise ? job.then((late) => ({ job: late, tx })) : { job, tx };
  }

  #store(jobs: readonly NewJob[], tx: unknown): Promise<readonly EnqueueAnswer[]> {
    const { store } = this.parts;
    return tx === undefined ? store.enqueue(jobs) : store.enqueueInTransaction(tx, jobs);
  }

  /** A contract without backoff and phases adds nothing, and takes no memory. */
  #learnOnce(contract: AnyContract): void {
    const definition = definitionOf(contract);
    const { type, settings } = definition;
    if (!this.#phases.has(type)) this.#learnBody(definition);
    if (settings.backoff === undefined || this.#policies.has(type)) return;
    this.learn([definition], this.parts.preset.retry);
  }
}

/** A job to enqueue, and the caller's transaction, if any. */
interface PreparedJob {
  readonly job: NewJob;
  readonly tx: unknown;
}

/** A target must name exactly one of lane, type and tenant. */
function gateOf(verb: "pause" | "resume", target: PauseTarget): GateName {
  const [entry, ...more] = Object.entries(target);
  const [kind, name] = entry ?? [];
  const isKnown = kind === "lane" || kind === "type" || kind === "tenant";
  if (isKnown && more.length === 0 && typeof name === "string" && name !== "") {
    insistOn(verb, aName, name, kind);
    return { kind, name };
  }
  throw new MillraceError(
    "OPTION_INVALID",
    'name one of { lane }, { type } or { tenant }, such as { type: "email" }',
  );
}
