/**
 * Server-sent events. A message has the id of its place in the feed, so that a browser that
 * connects again, to this server or another one, continues behind the last message that it got.
 */
import type { Clock } from "../../core/clock.ts";
import { RequestRefusal } from "../problem.ts";

/** A client that takes no message for so long is cut off. It may connect again. */
const STALLED_MS_MAX = 60_000;
/** Shorter than the time in which a revoked token must be refused, with that of `KnownTokens`. */
const CHECK_MS = 2_000;
const STREAMS_MAX = 1_000;
const RETRY_MS = 2_000;

const SSE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies such as nginx would otherwise collect messages.
  "x-accel-buffering": "no",
};

type StreamClock = Pick<Clock, "after" | "monotonic">;

/** A message and its place. An event has a name of its own. */
export interface SseMessage {
  readonly type: string;
  readonly id: string;
  readonly event?: string;
}

export interface SseParts<Message extends SseMessage> {
  readonly open: () => ReadableStream<Message>;
  readonly dataOf: (message: Message) => object;
  /** Whether the credential of the client is still valid. Rejects if the store cannot tell. */
  readonly isAllowed: () => Promise<boolean>;
  /** Aborts when the client has left, or the server stops. */
  readonly signal: AbortSignal;
}

/** Counts the open streams of a server. */
export class OpenStreams {
  readonly #clock: StreamClock;
  readonly #failed: (error: unknown) => void;
  #count = 0;

  constructor(clock: StreamClock, failed: (error: unknown) => void) {
    this.#clock = clock;
    this.#failed = failed;
  }

  get count(): number {
    return this.#count;
  }

  /** The response that sends the messages until the client leaves or the signal aborts. */
  respond<Message extends SseMessage>(parts: SseParts<Message>): Response {
    if (this.#count >= STREAMS_MAX) {
      throw new RequestRefusal("TOO_MANY_STREAMS", `${STREAMS_MAX} streams are open.`, [], {
        "retry-after": "5",
      });
    }
    const sender = new SseSender(parts, this.#clock, this.#failed, () => (this.#count -= 1));
    this.#count += 1;
    // One message ahead: the source is asked when the client has taken the message before.
    const body = new ReadableStream<Uint8Array>(sender, { highWaterMark: 1 });
    return new Response(body, { headers: SSE_HEADERS });
  }
}

/** The bytes of one stream. */
class SseSender<Message extends SseMessage> {
  readonly #parts: SseParts<Message>;
  readonly #clock: StreamClock;
  readonly #failed: (error: unknown) => void;
  readonly #ended: () => void;
  readonly #reader: ReadableStreamDefaultReader<Message>;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** When the last message was handed over that the client has not taken; null: it has. */
  #sentAt: number | null = null;
  #isOver = false;
  #cancelCheck = (): void => {};

  constructor(
    parts: SseParts<Message>,
    clock: StreamClock,
    failed: (error: unknown) => void,
    ended: () => void,
  ) {
    this.#parts = parts;
    this.#clock = clock;
    this.#failed = failed;
    this.#ended = ended;
    this.#reader = parts.open().getReader();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#parts;
    this.#controller = controller;
    signal.addEventListener("abort", this.#leave, { once: true });
    this.#checkLater();
    this.#send(`retry: ${RETRY_MS}\n\n`);
    if (signal.aborted) this.#leave();
  }

  async pull(): Promise<void> {
    this.#sentAt = null;
    try {
      const { value, done } = await this.#reader.read();
      if (this.#isOver) return;
      if (done) this.#leave();
      else this.#send(frameOf(value, this.#parts.dataOf(value)));
    } catch (error) {
      // The client connects again, as after every end, and continues behind its last message.
      if (!this.#isOver) this.#failed(error);
      this.#leave();
    }
  }

  cancel(): void {
    this.#end();
  }

  #send(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
    this.#sentAt = this.#clock.monotonic();
  }

  readonly #leave = (): void => {
    if (!this.#isOver) this.#controller?.close();
    this.#end();
  };

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended();
    this.#cancelCheck();
    this.#parts.signal.removeEventListener("abort", this.#leave);
    void this.#reader.cancel().catch(() => {});
  }

  #checkLater(): void {
    this.#cancelCheck = this.#clock.after(CHECK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    const sentAt = this.#sentAt;
    if (sentAt !== null && this.#clock.monotonic() - sentAt > STALLED_MS_MAX) {
      this.#controller?.error(stalled());
      this.#end();
      return;
    }
    // A store that does not answer is no reason to cut off a client that was allowed.
    const isAllowed = await this.#parts.isAllowed().catch(() => true);
    if (this.#isOver) return;
    if (isAllowed) this.#checkLater();
    else this.#leave();
  }
}

/** The adapter of Node writes the error to the log; its stack would say nothing. */
function stalled(): Error {
  const error = new Error(`the client of a stream took nothing for ${STALLED_MS_MAX / 1_000} s`);
  error.stack = error.message;
  return error;
}

function frameOf(message: SseMessage, data: object): string {
  const name = message.event ?? message.type;
  return `event: ${name}\nid: ${message.id}\ndata: ${JSON.stringify(data)}\n\n`;
}
