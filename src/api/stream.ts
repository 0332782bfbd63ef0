/** `mill.stream`: the events of an installation as a web stream. */
import type { Duration } from "../core/duration.ts";
import type { JobStats, JobView } from "./client.ts";
import type { Events } from "./events.ts";

/** Which events a stream has, and where it begins. All filters must match. */
export interface StreamOptions {
  /** Only events of this job. */
  readonly job?: string;
  /** Only events of jobs of this type, tenant or correlation. */
  readonly type?: string;
  readonly tenant?: string;
  readonly correlationId?: string;
  /** Only these events. Default: all. */
  readonly events?: readonly (keyof Events)[];
  /** The id of the last message that the reader has: the stream continues behind it. */
  readonly after?: string;
  /** Whether the stream begins with the current state. Default: true, and false with `after`. */
  readonly snapshot?: boolean;
  /** How often a message comes when nothing happens. Default 15 s. */
  readonly ping?: Duration;
}

/** A message of a stream. Its id is the position in the feed, which other processes understand. */
export type StreamMessage =
  /** The current state: the job of the filter, or the newest jobs that match. */
  | {
      readonly type: "snapshot";
      readonly id: string;
      readonly jobs: readonly JobView[];
      /** The counts of the installation; null for a stream of one job. */
      readonly stats: JobStats | null;
    }
  | StreamEvent
  /** Events between `after` and this message were removed: read the current state again. */
  | { readonly type: "reset"; readonly id: string }
  | { readonly type: "ping"; readonly id: string };

/** An event, with the job that it is about. */
export type StreamEvent = {
  [Name in keyof Events]: {
    readonly type: "event";
    readonly id: string;
    readonly at: Date;
    readonly event: Name;
    readonly data: Events[Name];
    /** The type and the tenant of the job; null if the job has been removed. */
    readonly job: { readonly type: string; readonly tenant: string } | null;
  };
}[keyof Events];
