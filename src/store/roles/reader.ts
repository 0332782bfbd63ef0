/** What can be asked without changing anything. */
import type { JobId } from "../../core/job.ts";
import type {
  JobProgress,
  LogRecord,
  UnitQuery,
  UnitHolder,
  UnitName,
  UnitRecord,
} from "../types/notes.ts";
import type {
  AttemptRecord,
  DeadLetterRecord,
  DeadLetterQuery,
  EventKind,
  FeedEntry,
  Gate,
  JobRecord,
  ListFilter,
  Listing,
  Page,
  Stats,
  WorkerRecord,
} from "../types/records.ts";

export interface Reader {
  get(id: JobId): Promise<JobRecord | null>;
  attempts(id: JobId): Promise<readonly AttemptRecord[]>;
  /** How far a job has come; null when there is no such job. */
  progress(id: JobId): Promise<JobProgress | null>;
  /** Units of a job, in the order of phase and unit; `after` is the last of the page before. */
  units(
    id: JobId,
    filter: UnitQuery,
    page: { readonly after?: UnitName; readonly limit: number },
  ): Promise<readonly UnitRecord[]>;
  /** Running jobs that work on a unit of this name just now (000-32). */
  unitHolders(unit: string, limit: number): Promise<readonly UnitHolder[]>;
  /** Lines of a job's log, oldest first: those that follow the line `after`, else the newest. */
  logs(
    id: JobId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly LogRecord[]>;
  /** The jobs that a job runs after, and that are not final yet. */
  openDependencies(id: JobId, limit: number): Promise<readonly JobId[]>;
  /** Who has an exclusive name or concurrency key of a tenant just now. */
  lockHolder(tenant: string, name: string): Promise<JobId | null>;
  list(filter: ListFilter, page: Page): Promise<Listing>;
  /** Counts up to `max` and stops there. */
  count(filter: ListFilter, max: number): Promise<number>;
  gates(): Promise<readonly Gate[]>;
  deadLetter(id: JobId): Promise<DeadLetterRecord | null>;
  /** Newest first. `after` is the id of the last letter of the page before. */
  deadLetters(
    filter: DeadLetterQuery,
    page: { readonly after?: JobId; readonly limit: number },
  ): Promise<readonly DeadLetterRecord[]>;
  workers(limit: number): Promise<readonly WorkerRecord[]>;
  stats(max: number): Promise<Stats>;
  /** The position of the last entry so far. */
  feedEnd(): Promise<number>;
  /**
   * What happened after `position`, oldest first. Entries of the kinds in `about` come with the
   * facts of their jobs, as they are now, looked up for the whole page at once.
   */
  feed(
    position: number,
    limit: number,
    about?: ReadonlySet<EventKind>,
  ): Promise<readonly FeedEntry[]>;
}
