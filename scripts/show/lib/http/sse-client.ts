/** A client of server-sent events that connects again, as `EventSource` does in a browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { messagesOf } from "../../../../src/remote/server-events.ts";
import { TOKEN } from "./server-process.ts";

const RETRY_MS = 100;

export interface Received {
  readonly id: string;
  readonly name: string;
  readonly job: string;
}

export class SseClient {
  /** Events in the order of their arrival. */
  readonly received: Received[] = [];
  /** The id of the first snapshot. */
  readonly begun: Promise<string>;
  connections = 0;
  /** How often the server said that the feed no longer reaches back. */
  resets = 0;
  readonly #url: string;
  readonly #over = new AbortController();
  readonly #following: Promise<void>;
  #lastId: string | null = null;
  readonly #begin: (id: string) => void;

  constructor(url: string) {
    this.#url = url;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.begun = promise;
    this.#begin = resolve;
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        await this.#connect();
      } catch {
        // The server was killed, or is not there yet.
      }
      if (!this.#over.signal.aborted) await sleep(RETRY_MS);
    }
  }

  async #connect(): Promise<void> {
    const response = await fetch(this.#url, {
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(this.#lastId === null ? {} : { "last-event-id": this.#lastId }),
      },
      signal: this.#over.signal,
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    this.connections += 1;
    for await (const { id, name, data } of messagesOf(response)) {
      this.#lastId = id;
      if (name === "snapshot") this.#begin(id);
      else if (name === "reset") this.resets += 1;
      else if (name !== "ping") this.received.push({ id, name, job: data.data.id });
    }
  }
}
