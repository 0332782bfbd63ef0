/**
 * Server-sent events. A message has the id of its place in the feed, so that a browser that
 * connects again, to this server or another one, continues behind the last message that it got.
 */
import type { Clock } from "../core/clock.ts";
import type { StreamMessage } from "../api/stream.ts";
import { RequestRefusal } from "./problem.ts";

/** A client that takes no message for so long is cut off. It may connect again. */
const STALLED_MS_MAX = 60_000;
/**
 * How often a stream looks whether its client stalls, and whether its credential still counts. With
 * the two seconds for which verdicts about tokens are remembered, this is less than five seconds.
 */
const LOOK_MS = 2_500;
const STREAMS_MAX = 1_000;
const RETRY_MS = 2_000;

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies such as nginx would otherwise collect messages.
  "x-accel-buffering": "no",
};

/** What a stream sends, to whom, and until when. */
export interface StreamAnswer {
  readonly open: () => ReadableStream<StreamMessage>;
  /** The JSON of a message as the caller may read it. */
  readonly dataOf: (message: StreamMessage) => object;
  /** False: the credential of the caller was revoked or has expired. */
  readonly isStillValid: () => Promise<boolean>;
  /** Aborts when the caller has left, or the server stops. */
  readonly signal: AbortSignal;
}

/** Counts the open streams of a server. */
export class OpenStreams {
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  #count = 0;

  constructor(clock: Pick<Clock, "after" | "monotonic">) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  /** The response that sends the messages until the client leaves or may no longer read them. */
  respond(answer: StreamAnswer): Response {
    if (this.#count >= STREAMS_MAX) {
      throw new RequestRefusal("TOO_MANY_STREAMS", `${STREAMS_MAX} streams are open.`, [], {
        "retry-after": "5",
      });
    }
    const reader = answer.open().getReader();
    this.#count += 1;
    const bytes = new MessageBytes(reader, answer, this.#clock, () => (this.#count -= 1));
    return new Response(new ReadableStream(bytes, { highWaterMark: 1 }), { headers: HEADERS });
  }
}

/** The messages of a stream as bytes, and what ends them. */
class MessageBytes {
  readonly #reader: ReadableStreamDefaultReader<StreamMessage>;
  readonly #answer: StreamAnswer;
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  readonly #ended: () => void;
  readonly #encoder = new TextEncoder();
  /** When the last message was handed over that the client has not taken. */
  #handedAt: number | null = null;
  #isOver = false;
  #close = (): void => {};
  #stopLooking = (): void => {};

  constructor(
    reader: ReadableStreamDefaultReader<StreamMessage>,
    answer: StreamAnswer,
    clock: Pick<Clock, "after" | "monotonic">,
    ended: () => void,
  ) {
    this.#reader = reader;
    this.#answer = answer;
    this.#clock = clock;
    this.#ended = ended;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#answer;
    this.#close = () => {
      if (!this.#isOver) controller.close();
      this.cancel();
    };
    signal.addEventListener("abort", this.#close, { once: true });
    this.#lookAgain(controller);
    this.#hand(controller, `retry: ${RETRY_MS}\n\n`);
    if (signal.aborted) this.#close();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#handedAt = null;
    try {
      const { value, done } = await this.#reader.read();
      if (this.#isOver) return;
      if (done) this.#close();
      else this.#hand(controller, frameOf(value, this.#answer.dataOf(value)));
    } catch (error) {
      // The store has failed. The client connects again, so that this stream must not count.
      this.cancel();
      throw error;
    }
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended();
    this.#stopLooking();
    this.#answer.signal.removeEventListener("abort", this.#close);
    void this.#reader.cancel().catch(() => {});
  }

  #hand(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    controller.enqueue(this.#encoder.encode(text));
    this.#handedAt = this.#clock.monotonic();
  }

  #lookAgain(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#isOver) return;
    this.#stopLooking = this.#clock.after(LOOK_MS, () => void this.#look(controller));
  }

  async #look(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const since = this.#handedAt;
    if (since !== null && this.#clock.monotonic() - since > STALLED_MS_MAX) {
      controller.error(new Error("the client of a stream has stalled"));
      this.cancel();
      return;
    }
    if (!(await this.#answer.isStillValid())) this.#close();
    this.#lookAgain(controller);
  }
}

function frameOf(message: StreamMessage, data: object): string {
  const name = message.type === "event" ? message.event : message.type;
  return `event: ${name}\nid: ${message.id}\ndata: ${JSON.stringify(data)}\n\n`;
}
