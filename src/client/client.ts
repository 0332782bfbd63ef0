/** The client: everything of an opened Millrace that needs no worker. */
import type { Clock, Dice } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { idSource } from "../core/ids.ts";
import type { JobId } from "../core/job.ts";
import type { Preset } from "../core/presets.ts";
import { Feed } from "../events/feed.ts";
import type {
  DeadLetters,
  Jobs,
  Millrace,
  PauseTarget,
  WaitOptions,
  Workers,
} from "../face/client.ts";
import type { Logger } from "../face/context.ts";
import type { JobContract, JobRequest } from "../face/contract.ts";
import { requestOf, type RequestParts } from "../face/definition.ts";
import type { Enqueued, Finished, JobRef, PayloadArgs } from "../face/enqueue.ts";
import type { Events } from "../face/events.ts";
import type { EnqueueAnswer, GateName, JobStore } from "../store/store.ts";
import { runningHere } from "./ambient.ts";
import { makeDeadLetters } from "./dead-letters.ts";
import { eventsFrom } from "./events.ts";
import { makeJobs } from "./jobs.ts";
import { newJobOf } from "./new-job.ts";
import { finishedOf, resultOf, untilFinal } from "./waiting.ts";
import { idOf, workerView } from "./views.ts";

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
  readonly newId: () => JobId;
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly workers: Workers;
  readonly #feed: Feed;

  constructor(parts: ClientParts) {
    const { store, clock, dice, logger } = parts;
    this.parts = parts;
    this.newId = idSource(clock, dice);
    this.#feed = new Feed(store, clock, (error) => {
      logger.warn("the feed could not be read; it will be tried again", { error });
    });
    this.jobs = makeJobs({
      store,
      newId: this.newId,
      random: () => dice.random(),
      now: () => clock.now(),
    });
    this.deadLetters = makeDeadLetters(store, this.newId);
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
    const [answer] = await this.#enqueueAll([{ contract, payload, options }]);
    if (answer === undefined) throw new Error("the store gave no answer");
    return answer;
  }

  async enqueueMany<const T extends readonly JobRequest<unknown>[]>(
    requests: T,
  ): Promise<{ [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never }> {
    const answers: readonly any[] = await this.#enqueueAll(requests.map(requestOf));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- One answer per request.
    return answers as { [I in keyof T]: T[I] extends JobRequest<infer R> ? Enqueued<R> : never };
  }

  async wait<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<Finished<R>> {
    return finishedOf(await this.#untilFinal(job, options));
  }

  async result<R>(job: JobRef<R>, options: WaitOptions = {}): Promise<R> {
    const result: any = resultOf(await this.#untilFinal(job, options));
    return result;
  }

  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void {
    const { store, logger } = this.parts;
    return eventsFrom(this.#feed, store, event, listener, (error) => {
      logger.error(`a listener of ${event} threw`, { error });
    });
  }

  async pause(target: PauseTarget, reason: string): Promise<void> {
    await this.parts.store.pause(gateOf(target), { reason, by: null });
  }

  async resume(target: PauseTarget): Promise<void> {
    await this.parts.store.resume(gateOf(target));
  }

  async close(): Promise<void> {
    this.#feed.close();
    await this.parts.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #untilFinal(job: JobRef<unknown>, options: WaitOptions) {
    const { store, clock } = this.parts;
    return untilFinal({ store, clock, feed: this.#feed }, idOf(job.id), options);
  }

  async #enqueueAll(requests: readonly RequestParts[]): Promise<Enqueued<any>[]> {
    const { store, tenant, preset } = this.parts;
    const around = { newId: this.newId, tenant, preset, running: runningHere() };
    const jobs = await Promise.all(requests.map((request) => newJobOf(request, around)));
    const answers = await store.enqueue(jobs);
    return answers.map((answer, index) => enqueuedOf(answer, requests[index]?.contract.type ?? ""));
  }
}

function enqueuedOf(answer: EnqueueAnswer, type: string): Enqueued<unknown> {
  if (answer.status === "refused") {
    throw new MillraceError(answer.code, refusalOf(answer.code, type, answer.holder), {
      details: { holder: answer.holder },
    });
  }
  const { id, state } = answer;
  return { id, type, state, created: answer.status === "created" };
}

function refusalOf(code: string, type: string, holder: JobId): string {
  if (code === "STORE_REFUSED") return `the database does not take this job of type "${type}"`;
  return `a job of type "${type}" with this key or id, and other content, is ${holder}`;
}

/** A target names exactly one of lane, type and tenant. */
function gateOf(target: PauseTarget): GateName {
  const [entry, ...more] = Object.entries(target);
  const [kind, name] = entry ?? [];
  const isKnown = kind === "lane" || kind === "type" || kind === "tenant";
  if (isKnown && more.length === 0 && typeof name === "string" && name !== "") {
    return { kind, name };
  }
  throw new MillraceError(
    "OPTION_INVALID",
    'name one of { lane }, { type } or { tenant }, such as { type: "email" }',
  );
}
