/** The events of one job, as the feed has them. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { addressOf } from "../../../api/client.ts";
import { PLACES } from "../../../api/operations.gen.ts";
import { momentText } from "../../../lib/format.ts";
import { zone } from "../../../lib/prefs.ts";
import { Empty, Note } from "../../../parts/notices.tsx";

interface JobEvent {
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

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

export function Events({ id }: { id: string }): JSX.Element {
  const { events, isCut, isRead } = useEvents(id);
  if (events.length === 0) {
    return (
      <Empty title={isRead ? "The feed no longer has events of this job" : "No events yet"}>
        Each step of the job appears here as it happens. The feed keeps events for a while; what
        became of the job stays in its attempts.
      </Empty>
    );
  }
  return (
    <div class="stack">
      {isCut && <Note tone="info" title="The first events are no longer in the feed" />}
      <ol class="job-log" tabIndex={0} aria-label="Events">
        {events.map(({ id: key, at, event, data }) => (
          <li key={key}>
            <time dateTime={at} title={momentText(Date.parse(at), zone.value)}>
              {momentText(Date.parse(at), zone.value).slice(11, 23)}
            </time>
            <span class="event">{event.replace("job:", "")}</span>
            <span class="wrap dim">{detailText(data)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The stream of the job from the beginning of the feed, for as long as the tab is shown. */
function useEvents(id: string) {
  const [state, setState] = useState<{
    events: readonly JobEvent[];
    isCut: boolean;
    isRead: boolean;
  }>({
    events: [],
    isCut: false,
    isRead: false,
  });
  useEffect(() => {
    const source = new EventSource(
      addressOf(PLACES.streamJobEvents.path, { id }, { after: "0", snapshot: false }),
    );
    const take = ({ data, lastEventId }: MessageEvent<string>): void => {
      const { at, event, data: facts } = JSON.parse(data);
      const added = { id: lastEventId, at, event, data: facts };
      setState((now) => ({ ...now, events: [...now.events, added].slice(-SHOWN_MAX) }));
    };
    for (const name of NAMES) source.addEventListener(name, take);
    source.addEventListener("reset", () => setState((now) => ({ ...now, isCut: true })));
    source.addEventListener("ping", () => setState((now) => ({ ...now, isRead: true })));
    return () => source.close();
  }, [id]);
  return state;
}

function detailText(facts: Readonly<Record<string, unknown>>): string {
  return Object.entries(facts)
    .filter(([name]) => name !== "id")
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
