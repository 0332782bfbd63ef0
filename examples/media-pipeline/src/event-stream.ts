/**
 * The life of one job as server-sent events: the body of a response of type `text/event-stream`.
 * It only reads: whether anybody follows a job changes nothing about it.
 */
import type { Events, Millrace } from "millrace";

export interface EventStreamOptions {
  /** Written first, so that the reader knows where it comes in. */
  readonly snapshot?: () => Promise<unknown>;
  /** How often a `ping` keeps the connection alive. */
  readonly pingMs?: number;
  /** Ends the stream from this side. */
  readonly signal?: AbortSignal;
}

const PING_MS_DEFAULT = 15_000;
/** A reader that is so far behind is better off with a new stream, and its snapshot. */
const FRAMES_WAITING_MAX = 1_000;

const EVENTS: readonly (keyof Events)[] = [
  "job:enqueued",
  "job:started",
  "job:progress",
  "job:phase:completed",
  "job:completed",
  "job:retrying",
  "job:failed",
  "job:cancelled",
  "job:stale",
  "job:deleted",
];

export function createEventStream(
  mill: Pick<Millrace, "on">,
  id: string,
  options: EventStreamOptions = {},
): ReadableStream<Uint8Array> {
  const source = new JobEvents(mill, id, options);
  const strategy = new CountQueuingStrategy({ highWaterMark: FRAMES_WAITING_MAX });
  return new ReadableStream<Uint8Array>(source, strategy);
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class JobEvents {
  readonly #mill: Pick<Millrace, "on">;
  readonly #id: string;
  readonly #options: EventStreamOptions;
  /** How to take back what was begun. */
  readonly #undo: (() => void)[] = [];
  /** What happens while the snapshot is taken; null once that is written. */
  #early: Uint8Array[] | null = [];
  #isOver = false;

  constructor(mill: Pick<Millrace, "on">, id: string, options: EventStreamOptions) {
    this.#mill = mill;
    this.#id = id;
    this.#options = options;
  }

  async start(controller: Controller): Promise<void> {
    const { snapshot, signal } = this.#options;
    // The listeners first, though the snapshot is written first: nothing falls in between.
    for (const name of EVENTS) this.#listen(name, controller);
    try {
      if (snapshot !== undefined) this.#write(controller, frameOf("snapshot", await snapshot()));
    } catch (error) {
      this.cancel();
      throw error;
    }
    for (const frame of this.#early ?? []) this.#write(controller, frame);
    this.#early = null;
    if (this.#isOver) return;

    this.#ping(controller);
    const close = (): void => {
      this.cancel();
      controller.close();
    };
    signal?.addEventListener("abort", close);
    this.#undo.push(() => signal?.removeEventListener("abort", close));
    if (signal?.aborted === true) close();
  }

  /** No listener and no timer stays. */
  cancel(): void {
    this.#isOver = true;
    for (const undo of this.#undo.splice(0)) undo();
  }

  #listen(name: keyof Events, controller: Controller): void {
    const off = this.#mill.on(name, (event) => {
      if (event.id !== this.#id) return;
      const frame = frameOf(name, event);
      if (this.#early === null) this.#write(controller, frame);
      else this.#early.push(frame);
    });
    this.#undo.push(off);
  }

  #ping(controller: Controller): void {
    const { pingMs = PING_MS_DEFAULT } = this.#options;
    const timer = setInterval(() => this.#write(controller, frameOf("ping", {})), pingMs);
    this.#undo.push(() => clearInterval(timer));
  }

  #write(controller: Controller, frame: Uint8Array): void {
    if (this.#isOver) return;
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(frame);
    this.cancel();
    controller.error(new Error("the reader is too slow"));
  }
}

function frameOf(event: string, told: unknown): Uint8Array {
  return new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(told)}\n\n`);
}
