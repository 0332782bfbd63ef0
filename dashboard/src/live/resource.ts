/**
 * What a screen reads from the server. The screen is drawn before the first answer; old data stays
 * while new data is read, and while the server fails.
 */
import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiProblem, isSignedOut } from "../api/client.ts";
import { listen, isPaused, type Changes } from "./feed.ts";

export interface Resource<Data> {
  readonly data: ReadonlySignal<Data | null>;
  /** Why the last read failed; null after a good one. */
  readonly error: ReadonlySignal<unknown>;
  /** When `data` was read. */
  readonly readAt: ReadonlySignal<number | null>;
  /** Reads again now. */
  reload(): Promise<void>;
  /** Puts data in place that an action has answered with. */
  set(data: Data): void;
}

export interface ResourceOptions {
  /** Read again when events of these kinds have happened (a prefix); default: any event. */
  readonly on?: readonly string[];
  /** The shortest time between two reads because of events. Default 2 s. */
  readonly restMs?: number;
  /** Also read again after so long without an event, for what no event announces. */
  readonly everyMs?: number;
}

const REST_MS = 2_000;

/** Whether the server has refused a read because the person has no right to it. */
export function isRefusal(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.status === 403;
}

/** Reads when `key` changes, and while it is shown whenever something has happened. */
export function useResource<Data>(
  key: string,
  load: (abort: AbortSignal) => Promise<Data>,
  options: ResourceOptions = {},
): Resource<Data> {
  const loader = useMemo(() => new Loader(load), [key]);
  loader.load = load;
  useEffect(() => loader.follow(options), [loader]);
  return loader;
}

class Loader<Data> implements Resource<Data> {
  readonly data = signal<Data | null>(null);
  readonly error = signal<unknown>(null);
  readonly readAt = signal<number | null>(null);
  load: (abort: AbortSignal) => Promise<Data>;
  #abort = new AbortController();
  #restUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(load: (abort: AbortSignal) => Promise<Data>) {
    this.load = load;
  }

  /** Begins to read. Answers the function that ends it. */
  follow({ on, restMs = REST_MS, everyMs }: ResourceOptions): () => void {
    const isWanted = (changes: Changes): boolean =>
      on === undefined ||
      Object.keys(changes).some(
        (name) => name === "open" || name === "reset" || on.some((each) => name.startsWith(each)),
      );
    const stop = listen((changes) => {
      if (isWanted(changes)) this.#reloadLater(restMs);
    });
    const tick = setInterval(
      () => {
        if (!document.hidden && !isPaused.value) this.#reloadUnlessRefused();
      },
      everyMs ?? 2 ** 31 - 1,
    );
    const unsubscribe = isSignedOut.subscribe((isOut) => {
      if (!isOut) void this.reload();
    });
    return () => {
      stop();
      unsubscribe();
      clearInterval(tick);
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#abort.abort();
    };
  }

  async reload(): Promise<void> {
    this.#abort.abort();
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const data = await this.load(abort.signal);
      if (abort.signal.aborted) return;
      this.set(data);
    } catch (error) {
      if (!abort.signal.aborted) this.error.value = error;
    }
  }

  set(data: Data): void {
    this.data.value = data;
    this.error.value = null;
    this.readAt.value = Date.now();
  }

  #reloadLater(restMs: number): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(0, this.#restUntil - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#restUntil = Date.now() + restMs;
      this.#reloadUnlessRefused();
    }, waitMs);
  }

  /** A read that the role does not allow is asked once; the next sign-in asks again. */
  #reloadUnlessRefused(): void {
    if (!isRefusal(this.error.value)) void this.reload();
  }
}
