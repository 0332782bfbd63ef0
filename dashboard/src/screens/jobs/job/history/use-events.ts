/** The events of one job: the feed from its beginning, for as long as the list is shown. */
import { useEffect, useState } from "preact/hooks";
import { addressOf } from "../../../../api/client.ts";
import { PLACES } from "../../../../api/operations.gen.ts";
import type { JobEvent } from "./steps.ts";

const NAMES = [
  "enqueued",
  "started",
  "progress",
  "unit",
  "phase:completed",
  "completed",
  "retrying",
  "failed",
  "cancelled",
  "stale",
  "deleted",
  "webhook:delivered",
  "webhook:failed",
].map((name) => `job:${name}`);
const SHOWN_MAX = 500;

export interface KnownEvents {
  readonly events: readonly JobEvent[];
  /** The first events are no longer in the feed, or there are too many. */
  readonly isCut: boolean;
  /** The feed was read to its end. */
  readonly isRead: boolean;
}

const NONE: KnownEvents = { events: [], isCut: false, isRead: false };

export function useEvents(id: string): KnownEvents {
  const [state, setState] = useState(NONE);
  useEffect(() => {
    setState(NONE);
    const source = new EventSource(
      addressOf(PLACES.streamJobEvents.path, { id }, { after: "0", snapshot: false }),
    );
    const take = ({ data, lastEventId }: MessageEvent<string>): void => {
      const { at, event, data: facts } = JSON.parse(data);
      setState((now) => withEvent(now, { id: lastEventId, at, event, data: facts }));
    };
    for (const name of NAMES) source.addEventListener(name, take);
    source.addEventListener("reset", () => setState((now) => ({ ...now, isCut: true })));
    source.addEventListener("ping", () => setState((now) => ({ ...now, isRead: true })));
    return () => source.close();
  }, [id]);
  return state;
}

function withEvent(known: KnownEvents, event: JobEvent): KnownEvents {
  const isFull = known.events.length >= SHOWN_MAX;
  const events = [...known.events, event].slice(-SHOWN_MAX);
  return { ...known, events, isCut: known.isCut || isFull };
}
