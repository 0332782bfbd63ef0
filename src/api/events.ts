/** The events of `mill.on`. */
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { EventKind } from "../store/types/records.ts";

export interface Events {
  "job:enqueued": { id: string; type: string };
  "job:started": { id: string; attempt: number };
  /** The last event of a job that completes has 100 % of the job. */
  "job:progress": {
    id: string;
    phase: string | null;
    /** The progress of the phase, 0 to 100. */
    percent: number;
    /** The progress of the whole job, 0 to 100. */
    overall: number;
    data?: Json;
  };
  /** A unit of `ctx.each` or `ctx.step` has ended. */
  "job:unit": {
    id: string;
    /** `null` for a job without phases. */
    phase: string | null;
    key: string;
    state: "completed" | "failed";
    /** The error of a failed unit, without its stack, and up to 500 characters of its message. */
    error?: Fault;
  };
  "job:phase:completed": { id: string; phase: string };
  "job:completed": { id: string; state: "completed" | "completed_with_errors" };
  "job:retrying": { id: string; runAt: Date };
  "job:failed": { id: string; error: Fault };
  "job:cancelled": { id: string };
  "job:stale": { id: string };
  "job:deleted": { id: string };
  /** Webhooks are not part of this release: `on` refuses these two events with NOT_YET. */
  "job:webhook:delivered": { id: string; deliveryId: string };
  "job:webhook:failed": { id: string; deliveryId: string };
}

/** The events of the feed of a store. A record, so that the compiler reports a missing one. */
const IN_FEED: Readonly<Record<EventKind, true>> = {
  "job:enqueued": true,
  "job:started": true,
  "job:progress": true,
  "job:unit": true,
  "job:phase:completed": true,
  "job:completed": true,
  "job:retrying": true,
  "job:failed": true,
  "job:cancelled": true,
  "job:stale": true,
  "job:deleted": true,
};

const KNOWN: Readonly<Record<keyof Events, true>> = {
  ...IN_FEED,
  "job:webhook:delivered": true,
  "job:webhook:failed": true,
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The record has no other keys.
export const EVENT_KINDS = Object.keys(IN_FEED) as readonly EventKind[];
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The record has no other keys.
export const EVENT_NAMES = Object.keys(KNOWN) as readonly (keyof Events)[];
