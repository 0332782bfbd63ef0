/** Follows the events of one job while it runs, so that its progress moves at once. */
import { useEffect, useRef } from "preact/hooks";
import { addressOf } from "../../../api/client.ts";
import { PLACES } from "../../../api/operations.gen.ts";
import { isPaused } from "../../../live/feed.ts";

const REST_MS = 700;
const EVENTS = [
  "job:progress",
  "job:unit",
  "job:phase:completed",
  "job:completed",
  "job:failed",
  "job:retrying",
  "job:cancelled",
];

export function useJobStream(id: string, isRunning: boolean, changed: () => void): void {
  const tell = useRef(changed);
  tell.current = changed;
  const isOpen = isRunning && !isPaused.value;
  useEffect(() => {
    if (!isOpen) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const source = new EventSource(
      addressOf(PLACES.streamJobEvents.path, { id }, { snapshot: false }),
    );
    const later = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!document.hidden) tell.current();
      }, REST_MS);
    };
    for (const event of EVENTS) source.addEventListener(event, later);
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [id, isOpen]);
}
