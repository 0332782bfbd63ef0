/** The client: everything of an opened Millrace that needs no worker. */
import type { Clock, Dice } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { idSource } from "../core/ids.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Preset } from "../core/presets.ts";
import { Feed } from "../events/feed.ts";
import type {
  DeadLetters,
  Jobs,
  Millrace,
  PauseTarget,
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
import type { GateName, JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { runningHere } from "../jobs/async-context.ts";
import { allEnqueued, atRequest, enqueuedOf } from "../jobs/enqueue-result.ts";
import { makeDeadLetters } from "./dead-letters.ts";
import { eventsFrom } from "./events.ts";
import { feedOrderedStore } from "./feed-ordered-store.ts";
import { makeJobs } from "./jobs.ts";
import { newJobOf, type JobDefaults } from "../jobs/new-job.ts";
import { failedUnitsOf } from "./progress.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { checkRemark, insistOn } from "../jobs/check-text.ts";
import { commonTx, withoutTx } from "./transaction.ts";
import { finishedOf, resultOf, untilFinal } from "./waiting.ts";
import { idOf, notFound, workerView, type NotFound } from "../jobs/views.ts";

const WORKERS_MAX = 1_000;

export interface ClientParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly logger: Logger;
  readonly tenant: string;
  readonly preset: Preset;
}

/** All of {@link Millrace} but `work`, which needs the runtime. */
export class Client implements Omit<Millrace, "work"> {
  readonly parts: ClientParts;
  /** What new jobs get that neither request nor definition says. */
  readonly jobDefaults: JobDefaults;
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly workers: Workers;
  /** What `on` hears, and what `wait` does: who waits is not held up by what listeners are told. */
  readonly #events: Feed;
  readonly #ends: Feed;
  /** How failures of a type are retried, where this process has its definition. */
  readonly #policies = new Map<string, RetryPolicy>();
  /** The phases of a type, where this process has its definition. */
  readonly #phases = new Map<string, readonly string[]>();
  /** Types whose new attempts and successors keep nothing, likewise. */
  readonly #restarting = new Set<string>();
  readonly #notFound: NotFound = (id) => notFound(id, this.#keptMs);
  /** For how long finished jobs stay, as far as this process knows. */
  #keptMs: readonly number[];
  readonly #closing = new AbortController();
  readonly #waits = new Set<Promise<JobRecord>>();

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
    const unread = (error: unknown): void => {
      logger.warn("the feed could not be read; it will be tried again", { error });
    };
    this.#events = new Feed(given.store, clock, unread);
    this.#ends = new Feed(given.store, clock, unread);
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
        if (await store.quiet(idOf(id))) return;
        throw new MillraceError("WORKER_NOT_FOUND", `there is no worker ${id}`);
      },
    };
  }

  async enqueue<Input, R>(
    contract: JobContract<string, Input, R>,
    ...[payload, options = {}]: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>> {
    const { job, tx } = await this.#newJobOf({ contract, payload, options });
    const [answer] = await this.#store([job], tx);
    if (answer === undefined) throw new Error("the store gave no answer");
    const enqueued: Enqueued<any> = enqueuedOf(answer, job);
    return enqueued;
  }

  async enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }> {
    const made = await allOf(requests.map((request, index) => this.#madeAt(request, index)));
    const jobs = made.map(({ job }) => job);
    const said = await this.#store(jobs, commonTx(made));
    const answers: readonly any[] = allEnqueued(said, jobs);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- One answer per request.
    return answers as { [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never };
  }

  async wait<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<Finished<R>> {
    const final = await this.#untilFinal(job, options);
    const hasFailedUnits = final.state === "completed_with_errors";
    return finishedOf(final, hasFailedUnits ? await failedUnitsOf(this.parts.store, final.id) : 0);
  }

  async result<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<R> {
    const result: any = resultOf(await this.#untilFinal(job, options));
    return result;
  }

  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => unknown): () => void {
    return eventsFrom(this.#events, event, listener, (error) => {
      this.parts.logger.error(`a listener of ${event} threw`, { error });
    });
  }

  async pause(target: PauseTarget, reason: string): Promise<void> {
    checkRemark("pause", "reason", reason);
    await this.parts.store.pause(gateOf("pause", target), { reason, by: null });
  }

  async resume(target: PauseTarget): Promise<void> {
    await this.parts.store.resume(gateOf("resume", target));
  }

  /** Whoever waits for a job gets one last look at it, then hears of the end. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#waits);
    this.#events.close();
    this.#ends.close();
    await this.parts.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Remembers how jobs that run here are retried, for failures that are recorded by hand, and which
   * phases they have, for those of which none has begun.
   */
  learn(definitions: Iterable<Definition>, retry: RetryPolicy): void {
    for (const definition of definitions) {
      this.#policies.set(definition.type, policyOf(retry, definition.settings));
      this.#learnBody(definition);
    }
  }

  /** Remembers for how long workers that were started here let finished jobs stay. */
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

  async #untilFinal(job: JobRef<unknown>, options: WaitOptions): Promise<JobRecord> {
    const { store, clock } = this.parts;
    const closing = this.#closing.signal;
    const parts = { store, clock, feed: this.#ends, closing, notFound: this.#notFound };
    const end = untilFinal(parts, idOf(job.id), options);
    this.#waits.add(end);
    try {
      return await end;
    } finally {
      this.#waits.delete(end);
    }
  }

  #madeAt(request: JobRequest<unknown>, index: number): Made | Promise<Made> {
    const refuse = (error: unknown): never => {
      throw atRequest(index, error);
    };
    try {
      const made = this.#newJobOf(requestOf(request));
      return made instanceof Promise ? made.catch(refuse) : made;
    } catch (error) {
      return refuse(error);
    }
  }

  #newJobOf(request: RequestParts): Made | Promise<Made> {
    const { tx, request: plain } = withoutTx(request);
    const job = newJobOf(plain, { ...this.jobDefaults, running: runningHere() });
    this.#learnOnce(request.contract);
    return job instanceof Promise ? job.then((late) => ({ job: late, tx })) : { job, tx };
  }

  #store(jobs: readonly NewJob[], tx: unknown): Promise<readonly EnqueueAnswer[]> {
    const { store } = this.parts;
    return tx === undefined ? store.enqueue(jobs) : store.enqueueInTransaction(tx, jobs);
  }

  /** A contract that says nothing about retries or phases teaches nothing, and takes no room. */
  #learnOnce(contract: AnyContract): void {
    const definition = definitionOf(contract);
    const { type, settings } = definition;
    if (!this.#phases.has(type)) this.#learnBody(definition);
    if (settings.backoff === undefined || this.#policies.has(type)) return;
    this.learn([definition], this.parts.preset.retry);
  }
}

/** A job to be written, and the transaction of the caller that it belongs to. */
interface Made {
  readonly job: NewJob;
  readonly tx: unknown;
}

/** A target names exactly one of lane, type and tenant. */
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
