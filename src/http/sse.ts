/**
 * Server-sent events. A message has the id of its place in the feed, so that a browser that
 * connects again, to this server or another one, continues behind the last message that it got.
 */
import type { Clock } from "../core/clock.ts";
import type { StreamMessage } from "../api/stream.ts";
import { RequestRefusal } from "./problem.ts";

/** A client that takes no message for so long is cut off. It may connect again. */
const STALLED_MS_MAX = 60_000;
const LOOK_MS = 5_000;
const STREAMS_MAX = 1_000;
const RETRY_MS = 2_000;

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies such as nginx would otherwise collect messages.
  "x-accel-buffering": "no",
};

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

  /** The response that sends the messages until the client leaves or `signal` aborts. */
  respond(
    open: () => ReadableStream<StreamMessage>,
    dataOf: (message: StreamMessage) => object,
    signal: AbortSignal,
  ): Response {
    if (this.#count >= STREAMS_MAX) {
      throw new RequestRefusal("TOO_MANY_STREAMS", `${STREAMS_MAX} streams are open.`, [], {
        "retry-after": "5",
      });
    }
    const reader = open().getReader();
    this.#count += 1;
    return new Response(this.#bytesOf(reader, dataOf, signal), { headers: HEADERS });
  }

  #bytesOf(
    reader: ReadableStreamDefaultReader<StreamMessage>,
    dataOf: (message: StreamMessage) => object,
    signal: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let wantedAt: number | null = null;
    let stopLooking = (): void => {};
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      this.#count -= 1;
      stopLooking();
      signal.removeEventListener("abort", leave);
      void reader.cancel().catch(() => {});
    };
    let isOver = false;
    let leave = (): void => {};
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          leave = () => {
            if (!isOver) controller.close();
            end();
          };
          signal.addEventListener("abort", leave, { once: true });
          stopLooking = this.#cutWhenStalled(
            () => wantedAt,
            () => {
              if (!isOver) controller.error(new Error("the client of a stream has stalled"));
              end();
            },
          );
          controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
          wantedAt = this.#clock.monotonic();
          if (signal.aborted) leave();
        },
        pull: async (controller) => {
          wantedAt = null;
          const { value, done } = await reader.read();
          if (isOver) return;
          if (done) leave();
          else controller.enqueue(encoder.encode(frameOf(value, dataOf(value))));
          wantedAt = this.#clock.monotonic();
        },
        cancel: end,
      },
      { highWaterMark: 1 },
    );
  }

  /** `sentAt`: when the last message was handed over that the client has not taken. */
  #cutWhenStalled(sentAt: () => number | null, cut: () => void): () => void {
    let cancel = (): void => {};
    const look = (): void => {
      cancel = this.#clock.after(LOOK_MS, () => {
        const since = sentAt();
        if (since !== null && this.#clock.monotonic() - since > STALLED_MS_MAX) cut();
        else look();
      });
    };
    look();
    return () => cancel();
  }
}

function frameOf(message: StreamMessage, data: object): string {
  const name = message.type === "event" ? message.event : message.type;
  return `event: ${name}\nid: ${message.id}\ndata: ${JSON.stringify(data)}\n\n`;
}
