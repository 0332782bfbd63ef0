/**
 * Digests of the feed: how many events of each kind there were in the last second. All pages of a
 * server share one reader of the feed, so a busy feed costs the same with one page as with fifty.
 * A digest that a page has missed needs no repetition: the page reads what it shows.
 */
import type { Clock } from "../../core/clock.ts";
import type { StreamMessage } from "../../api/stream.ts";
import type { HttpMill } from "../parts.ts";

export interface ChangeMessage {
  readonly type: "changes" | "ping";
  readonly id: string;
  readonly events: Readonly<Record<string, number>>;
}

type Reader = ReadableStreamDefaultReader<StreamMessage>;

const EVERY_MS = 1_000;
/** A message without changes shows that the connection lives. */
const QUIET_TURNS_MAX = 15;

export class ChangeDigest {
  readonly #mill: Pick<HttpMill, "stream">;
  readonly #clock: Pick<Clock, "after">;
  readonly #failed: (error: unknown) => void;
  readonly #readers = new Set<Subscription>();
  #reader: Reader | null = null;
  #cancelTurn = (): void => {};

  constructor(
    mill: Pick<HttpMill, "stream">,
    clock: Pick<Clock, "after">,
    failed: (error: unknown) => void,
  ) {
    this.#mill = mill;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** The digests of one tenant; null: of all. */
  open(tenant: string | null): ReadableStream<ChangeMessage> {
    const subscription = new Subscription(tenant);
    const cancel = (): void => this.#leave(subscription);
    return new ReadableStream<ChangeMessage>(
      {
        start: (controller) => {
          subscription.controller = controller;
          this.#join(subscription);
        },
        cancel,
      },
      // Digests of a page that does not read are added up, not collected.
      { highWaterMark: 1 },
    );
  }

  #join(subscription: Subscription): void {
    this.#readers.add(subscription);
    if (this.#reader !== null) return;
    this.#reader = this.#mill.stream({ snapshot: false }).getReader();
    void this.#read(this.#reader);
    this.#turnLater();
  }

  #leave(subscription: Subscription): void {
    this.#readers.delete(subscription);
    if (this.#readers.size > 0) return;
    this.#cancelTurn();
    void this.#reader?.cancel().catch(() => {});
    this.#reader = null;
  }

  async #read(reader: Reader): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        for (const each of this.#readers) each.note(value);
      }
      this.#end(reader);
    } catch (error) {
      if (this.#reader === reader) this.#failed(error);
      this.#end(reader);
    }
  }

  /** The pages connect again, and a new reader begins. */
  #end(reader: Reader): void {
    if (this.#reader !== reader) return;
    this.#reader = null;
    this.#cancelTurn();
    for (const each of this.#readers) each.controller?.close();
    this.#readers.clear();
  }

  #turnLater(): void {
    this.#cancelTurn = this.#clock.after(EVERY_MS, () => {
      for (const each of this.#readers) each.send();
      this.#turnLater();
    });
  }
}

/** One page: what it has not been told yet. */
class Subscription {
  readonly tenant: string | null;
  controller: ReadableStreamDefaultController<ChangeMessage> | null = null;
  #events = new Map<string, number>();
  #id = "0";
  #quietTurns = 0;

  constructor(tenant: string | null) {
    this.tenant = tenant;
  }

  note(message: StreamMessage): void {
    this.#id = message.id;
    if (message.type === "reset") this.#count("reset");
    if (message.type !== "event") return;
    if (this.tenant !== null && message.job?.tenant !== this.tenant) return;
    this.#count(message.event);
  }

  #count(event: string): void {
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
  }

  send(): void {
    this.#quietTurns += 1;
    if ((this.controller?.desiredSize ?? 0) <= 0) return;
    const isQuiet = this.#events.size === 0;
    if (isQuiet && this.#quietTurns < QUIET_TURNS_MAX) return;
    const events = Object.fromEntries(this.#events);
    this.controller?.enqueue({ type: isQuiet ? "ping" : "changes", id: this.#id, events });
    this.#events = new Map();
    this.#quietTurns = 0;
  }
}
