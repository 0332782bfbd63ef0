/** The client: all of an opened Millrace but workers. */
import type { Metrics } from "../api/metrics/metrics.ts";
import type { Clock, Dice } from "../core/clock.ts";
import { idSource } from "../core/ids.ts";
import type { JobId } from "../core/job.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Preset } from "../core/presets.ts";
import { Feed } from "../events/feed.ts";
import { FeedPages } from "../events/feed-pages.ts";
import type {
  DeadLetters,
  Jobs,
  Millrace,
  Pause,
  PauseTarget,
  Resumed,
  WaitOptions,
  Workers,
} from "../api/client.ts";
import type { Logger } from "../api/context.ts";
import type { JobContract, JobRequest } from "../api/contract.ts";
import { requestOf, type Definition, type RequestParts } from "../api/definition.ts";
import type { Drained, DrainSettings, DrainTarget, RunningCount } from "../api/control/drain.ts";
import type { Failures } from "../api/control/failures.ts";
import type { ActedBy, Audit } from "../api/control/audit.ts";
import type { Operations } from "../api/control/operations.ts";
import type { Intake } from "../api/control/intake.ts";
import type { Tenants } from "../api/control/tenants.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "../api/enqueue.ts";
import type { Events } from "../api/events.ts";
import type { PayloadRules } from "../api/control/payload-rules.ts";
import type { About } from "../api/control/about.ts";
import type { Attention } from "../api/control/attention.ts";
import type { LaneOverview } from "../api/control/lanes.ts";
import type { Fairness } from "../api/control/fairness.ts";
import type { Limits } from "../api/control/limits.ts";
import type { StreamMessage, StreamOptions } from "../api/stream.ts";
import type { Schedules } from "../api/schedule.ts";
import type { Tokens } from "../api/tokens.ts";
import type { Breakers } from "../api/services/breakers.ts";
import type { Types } from "../api/services/types.ts";
import { aName } from "../api/rules.ts";
import { allOf } from "../lib/maybe-promise.ts";
import { packageVersion } from "../lib/package-version.ts";
import { SharedReads } from "../lib/shared-reads.ts";
import { sturdyLogger } from "../lib/stderr-logger.ts";
import type { EnqueueAnswer, NewJob } from "../store/types/jobs-and-runs.ts";
import type { DeclaredRule } from "../store/types/payload-rules.ts";
import type { FinalJob } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { currentJob, type CurrentJob } from "../jobs/async-context.ts";
import { allEnqueued, atRequest, enqueuedOf } from "../jobs/enqueue-result.ts";
import { makeAudit } from "./audit/audit.ts";
import { makeFailures } from "./failures/failures.ts";
import { makeDeadLetters } from "./dead-letters.ts";
import { EndWatch } from "./waits/end-watch.ts";
import { countRunning, drain } from "./control/drain.ts";
import { eventsFrom } from "./feed/events.ts";
import type { TenantWorkers } from "./explain.ts";
import { feedOrderedStore } from "./feed/feed-ordered-store.ts";
import { makeJobs } from "./jobs.ts";
import { makeStream, type Snapshot } from "./feed/stream.ts";
import { makeIntake } from "./control/intake.ts";
import { makeSchedules } from "./control/schedules.ts";
import { makeTokens } from "./tokens.ts";
import { makeBreakers } from "./services/breakers.ts";
import { makeTypes } from "./services/types.ts";
import { KnownTypes, type KnownRetention } from "./known-types.ts";
import { OpenCalls } from "./waits/open-calls.ts";
import { OperationRunner } from "../jobs/operations/runner.ts";
import { LocalRuns } from "./operations/local-runs.ts";
import { makeOperations } from "./operations/operations.ts";
import { newJobOf, type JobDefaults } from "../jobs/new-job.ts";
import { PayloadGate } from "../jobs/payloads/payload-gate.ts";
import { makePayloadRules } from "./control/payload-rules.ts";
import { readAttention } from "./attention/attention.ts";
import { makeLanes } from "./control/lanes.ts";
import { makeViews } from "./control/views.ts";
import type { SavedViews } from "../api/control/views.ts";
import { makeFairness } from "./control/fairness.ts";
import { makeLimits } from "./control/limits.ts";
import { listPauses, pause, resume } from "./pauses.ts";
import { failedUnitsOf } from "./progress.ts";
import { insistOn } from "../jobs/check-text.ts";
import { concernsAll } from "./tenants/tenant-scope.ts";
import { makeTenants } from "./tenants/tenants.ts";
import { tenantStore, workersFor } from "./tenants/tenant-store.ts";
import { commonTx, insistOnRequestsOnly, withoutTx } from "./transaction.ts";
import { finishedOf, resultOf, untilFinal } from "./waits/waiting.ts";
import { makeMetrics } from "./metrics.ts";
import { makeWorkers } from "./workers.ts";
import { refId } from "../jobs/views.ts";

/** The tenants whose mills are kept. The mill that was used longest ago goes first. */
const TENANTS_MAX = 1_000;

export interface ClientParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly logger: Logger;
  readonly tenant: string;
  readonly preset: Preset;
}

/** What the mill of a tenant shares with the mill that was opened. */
export interface TenantParts {
  readonly known: KnownTypes;
  readonly calls: OpenCalls;
  /** Streams of a tenant leave out what is not of the tenant. */
  readonly pages: FeedPages;
  readonly newId: () => JobId;
  /** Chunks are applied by the mill that was opened. */
  readonly localRuns: LocalRuns;
  /** Rules hold for all tenants. */
  readonly payloads: PayloadGate;
  /** For `jobs.explain`: no other method of the mill reads workers. */
  readonly workers: TenantWorkers;
}

/** {@link Millrace} without `work`, which needs the runtime. */
export class Client implements Omit<Millrace, "work"> {
  readonly parts: ClientParts;
  /** What new jobs get that neither request nor definition says. */
  readonly jobDefaults: JobDefaults;
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly failures: Failures;
  readonly operations: Operations;
  readonly workers: Workers;
  readonly metrics: Metrics;
  readonly tokens: Tokens;
  readonly schedules: Schedules;
  readonly types: Types;
  readonly breakers: Breakers;
  readonly limits: Limits;
  readonly fairness: Fairness;
  readonly lanes: LaneOverview;
  readonly intake: Intake;
  readonly audit: Audit;
  readonly payloadRules: PayloadRules;
  readonly views: SavedViews;
  readonly #payloads: PayloadGate;
  readonly tenants: Tenants;
  readonly #events: Feed;
  readonly #endWatch: EndWatch;
  readonly #pages: FeedPages;
  readonly #known: KnownTypes;
  readonly #calls: OpenCalls;
  readonly #localRuns: LocalRuns;
  readonly #snapshots = new SharedReads<Snapshot>();
  /** Null: all tenants. */
  readonly #tenantParts: TenantParts | null;
  /** The mills of tenants, the one used last at the end. */
  readonly #tenantMills = new Map<string, Client>();

  /** With `tenantParts`, this is the mill of one tenant, and `given.store` is limited to it. */
  constructor(given: ClientParts, tenantParts: TenantParts | null = null) {
    const parts = {
      ...given,
      logger: sturdyLogger(given.logger),
      store: feedOrderedStore(given.store, () => this.#events.beginning),
    };
    const { store, clock, dice, logger } = parts;
    this.parts = parts;
    this.#tenantParts = tenantParts;
    const known = tenantParts?.known ?? new KnownTypes(parts.preset);
    this.#known = known;
    this.#calls = tenantParts?.calls ?? new OpenCalls();
    const newId = tenantParts?.newId ?? idSource(clock, dice);
    this.#payloads = tenantParts?.payloads ?? gateOf(parts);
    const { tenant, preset } = parts;
    this.jobDefaults = { newId, tenant, preset, payloads: this.#payloads };
    const onFeedError = (error: unknown): void => {
      logger.warn("cannot read the feed; trying again", { error });
    };
    this.#events = new Feed(given.store, clock, onFeedError);
    this.#endWatch = new EndWatch(given.store, clock);
    this.#pages = tenantParts?.pages ?? new FeedPages(given.store, clock, onFeedError);
    this.jobs = makeJobs({
      store,
      newId,
      known,
      random: () => dice.random(),
      tenantWorkers: tenantParts?.workers,
    });
    this.deadLetters = makeDeadLetters({
      store,
      clock,
      newId,
      known,
      payloads: this.#payloads,
    });
    this.failures = makeFailures({ store, clock, newId });
    this.#localRuns = tenantParts?.localRuns ?? this.#makeLocalRuns(newId);
    this.operations = makeOperations({
      store,
      clock,
      newId,
      tenant: tenantParts === null ? null : parts.tenant,
      runs: this.#localRuns,
      closing: this.#calls.closing,
    });
    this.tokens = makeTokens({
      store,
      newId,
      dice,
      clock,
      tenant: tenantParts === null ? null : parts.tenant,
    });
    this.schedules = makeSchedules({ store, clock, defaults: this.jobDefaults });
    this.limits = makeLimits(store, parts.tenant);
    this.fairness = makeFairness(store);
    this.lanes = makeLanes(store);
    this.intake = makeIntake(store);
    this.audit = makeAudit(store);
    this.payloadRules = makePayloadRules(store, logger);
    this.views = makeViews(store);
    this.tenants = makeTenants(store, clock);
    this.workers = makeWorkers(store);
    this.metrics = makeMetrics(store, clock);
    this.types = makeTypes(store);
    this.breakers = makeBreakers(store);
  }

  stream(options: StreamOptions = {}): ReadableStream<StreamMessage> {
    const { jobs } = this;
    const { closing } = this.#calls;
    const tenant = this.#tenantParts === null ? null : this.parts.tenant;
    const snapshots = this.#snapshots;
    return makeStream({ pages: this.#pages, jobs, snapshots, closing, tenant }, options);
  }

  async enqueue<Input, R>(
    contract: JobContract<string, Input, R>,
    ...[payload, options = {}]: PayloadArgs<NoInfer<Input>>
  ): Promise<Enqueued<R>> {
    const late = this.#payloads.refresh();
    if (late !== null) await late;
    const { job, tx } = await this.#prepare({ contract, payload, options });
    const [answer] = await this.#store([job], tx);
    if (answer === undefined) throw new Error("the store gave no answer");
    const enqueued: Enqueued<any> = enqueuedOf(answer, job);
    return enqueued;
  }

  async enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
    ...others: readonly never[]
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }> {
    insistOnRequestsOnly(others);
    const late = this.#payloads.refresh();
    if (late !== null) await late;
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
    const end = eventsFrom(this.#events, event, listener, (error) => {
      this.parts.logger.error(`a listener of ${event} failed`, { error });
    });
    return this.#calls.addListener(end);
  }

  forTenant(tenant: string): Client {
    if (this.#tenantParts !== null) throw concernsAll("forTenant", this.parts.tenant);
    insistOn("forTenant", aName, tenant, "the tenant");
    const mill = this.#tenantMills.get(tenant) ?? this.#millOf(tenant);
    this.#tenantMills.delete(tenant);
    this.#tenantMills.set(tenant, mill);
    const [oldest] = this.#tenantMills.keys();
    if (this.#tenantMills.size > TENANTS_MAX && oldest !== undefined) {
      this.#tenantMills.delete(oldest);
    }
    return mill;
  }

  pause(target: PauseTarget, reason: string, by?: { actor: string }): Promise<void> {
    return pause(this.parts.store, target, reason, by);
  }

  resume(target: PauseTarget, by?: ActedBy): Promise<Resumed> {
    return resume(this.parts.store, target, by);
  }

  pauses(): Promise<readonly Pause[]> {
    return listPauses(this.parts.store);
  }

  about(): About {
    const { place: store } = this.parts.store;
    return { store, version: packageVersion(), retention: this.#known.retention };
  }

  async attention(): Promise<Attention> {
    const { store, clock } = this.parts;
    const tenant = this.#tenantParts === null ? null : this.parts.tenant;
    return readAttention({ store, clock, tenant });
  }

  drain(target: DrainTarget, options?: DrainSettings): Promise<Drained> {
    const { store, clock } = this.parts;
    return drain({ store, clock, closing: this.#calls.closing }, target, options);
  }

  async running(
    target: DrainTarget,
    options?: { readonly claims?: readonly string[] },
  ): Promise<RunningCount> {
    return countRunning(this.parts.store, target, options);
  }

  /**
   * Every pending `wait` reads its job once more, then ends with STORE_CLOSED. The mill of a tenant
   * is closed with the mill that was opened.
   */
  async close(): Promise<void> {
    if (this.#tenantParts !== null) throw concernsAll("close", this.parts.tenant);
    await this.#calls.end();
    await this.parts.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Remembers the definitions of a worker that was started here. */
  learn(definitions: Iterable<Definition>, retry: RetryPolicy): void {
    this.#known.learn(definitions, retry);
  }

  /** Remembers the retention periods of workers that were started here. */
  learnRetention(plan: KnownRetention): void {
    this.#known.learnRetention(plan);
  }

  /** What is started here begins here, also without a worker. */
  #makeLocalRuns(newId: () => JobId): LocalRuns {
    const { store, clock, logger, preset } = this.parts;
    const { idempotencyMs } = preset.retention;
    const known = this.#known;
    const runner = new OperationRunner({ store, clock, logger, newId, known, idempotencyMs });
    return new LocalRuns({ runner, clock, logger, calls: this.#calls });
  }

  #millOf(tenant: string): Client {
    const { store } = this.parts;
    return new Client(
      { ...this.parts, store: tenantStore(store, tenant), tenant },
      {
        known: this.#known,
        calls: this.#calls,
        pages: this.#pages,
        newId: this.jobDefaults.newId,
        localRuns: this.#localRuns,
        payloads: this.#payloads,
        workers: (limit) => workersFor({ store, tenant }, limit),
      },
    );
  }

  #untilFinal(id: JobId, options: WaitOptions): Promise<FinalJob> {
    const { store, clock } = this.parts;
    const { closing } = this.#calls;
    const parts = { store, clock, endWatch: this.#endWatch, closing, known: this.#known };
    return this.#calls.waitFor(untilFinal(parts, id, options));
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
    const job = newJobOf(plain, { ...this.jobDefaults, running: this.#runningJob() });
    this.#known.learnOnce(request.contract);
    return job instanceof Promise ? job.then((late) => ({ job: late, tx })) : { job, tx };
  }

  #store(jobs: readonly NewJob[], tx: unknown): Promise<readonly EnqueueAnswer[]> {
    const { store } = this.parts;
    return tx === undefined ? store.enqueue(jobs) : store.enqueueInTransaction(tx, jobs);
  }

  /** The mill of a tenant links its new jobs to no job of another tenant. */
  #runningJob(): CurrentJob | undefined {
    const job = currentJob();
    return this.#tenantParts === null || job?.tenant === this.parts.tenant ? job : undefined;
  }
}

function gateOf({ store, preset, clock, logger }: ClientParts): PayloadGate {
  const readRules = (): ReturnType<JobStore["payloadRules"]> => store.payloadRules();
  const declareRules = (rules: readonly DeclaredRule[]): Promise<void> =>
    store.declarePayloadRules(rules);
  const presetRules = preset.payloadRules;
  return new PayloadGate({ readRules, declareRules, presetRules, clock, logger });
}

/** A job to enqueue, and the caller's transaction, if any. */
interface PreparedJob {
  readonly job: NewJob;
  readonly tx: unknown;
}
