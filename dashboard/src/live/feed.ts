/**
 * The pulse of the page: one stream per tab that says at most once a second how many events of each
 * kind there were. Screens then read again what they show. The stream is closed while the tab is
 * hidden or a person has paused it.
 */
import { computed, effect, signal } from "@preact/signals";
import { addressOf, call, isSignedOut } from "../api/client.ts";
import { PLACES } from "../api/operations.gen.ts";

/** The counts by event; `open` and `reset` mean that anything may have changed. */
export type Changes = Readonly<Record<string, number>>;

export const isPaused = signal(false);
const isHidden = signal(document.hidden);
const isOpen = signal(false);
const attempt = signal(0);

/** What the dot in the top bar says. */
export const liveState = computed(() => {
  if (isPaused.value) return "paused";
  return isOpen.value ? "live" : "connecting";
});

const listeners = new Set<(changes: Changes) => void>();
const LOOK_MS = 5_000;

/** Calls back at every pulse. Answers the function that ends it. */
export function listen(listener: (changes: Changes) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

document.addEventListener("visibilitychange", () => (isHidden.value = document.hidden));

/** Keeps the stream open while it is wanted. */
export function startFeed(): () => void {
  return effect(() => {
    void attempt.value;
    if (isPaused.value || isHidden.value || isSignedOut.value) return;
    const source = openSource();
    // An EventSource gives up for good after some answers, such as 401 and 503.
    const timer = setInterval(() => {
      if (source.readyState === EventSource.CLOSED) void askAgain();
    }, LOOK_MS);
    return () => {
      clearInterval(timer);
      source.close();
      isOpen.value = false;
    };
  });
}

/** A server that answers gets a new stream; a session that has ended is noticed by the call. */
async function askAgain(): Promise<void> {
  try {
    await call("getSession");
    attempt.value += 1;
  } catch {
    // The next look asks again.
  }
}

function openSource(): EventSource {
  const source = new EventSource(addressOf(PLACES.streamChanges.path, {}, {}));
  source.addEventListener("open", () => {
    isOpen.value = true;
    tell({ open: 1 });
  });
  source.addEventListener("error", () => (isOpen.value = false));
  source.addEventListener("changes", ({ data }: MessageEvent<string>) => {
    tell(JSON.parse(data).events);
  });
  return source;
}

function tell(changes: Changes): void {
  for (const listener of listeners) listener(changes);
}
