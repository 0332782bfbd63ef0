/** Queries. None of them changes anything. */
import type { QuotaRecord, QuotaUse } from "../types/quotas.ts";
import type { RemovalRecord } from "../types/tenants.ts";
import type { DeadLetterQuery, LetterGroups, LetterPage } from "../types/letters.ts";
import type { FailureDecisionRecord, FailureGroupRecord, FailureScope } from "../types/failures.ts";
import type { SavedViewRecord } from "../types/saved-views.ts";
import type { Deploy, MinutesAnswer, MinutesQuery } from "../types/minutes.ts";
import type { IdRange } from "../../core/ids.ts";
import type { JobId } from "../../core/job.ts";
import type { FairLaneRecord } from "../types/fairness.ts";
import type { KeyedJob, LimitRecord } from "../types/limits.ts";
import type { IntakeRecord } from "../types/jobs-and-runs.ts";
import type { PayloadRuleRecord } from "../types/payload-rules.ts";
import type {
  JobHistory,
  JobProgress,
  LogRecord,
  UnitRecordFilter,
  UnitHolder,
  UnitPlace,
  UnitRecord,
} from "../types/notes.ts";
import type { MatchCount, ListFilter, Listing, Page } from "../types/lists.ts";
import type {
  AttemptRecord,
  CountAhead,
  CountBehind,
  DeadLetterRecord,
  EventKind,
  FeedEntry,
  Gate,
  GateName,
  GroupedStats,
  GroupLimits,
  JobEnd,
  JobHolder,
  JobRecord,
  RunningJobCount,
  RunTarget,
  Stats,
  WorkerRecord,
} from "../types/records.ts";
import type { BreakerChange, BreakerRecord, TypeRecord } from "../types/services.ts";

export interface ReaderStore {
  /** One job; null if there is no such job. */
  get(id: JobId): Promise<JobRecord | null>;
  /** How jobs have ended. One answer per id, in the order given. */
  ends(ids: readonly JobId[]): Promise<readonly JobEnd[]>;
  /**
   * The tenants of jobs and dead letters. One answer per id, in the order given; null: there is
   * neither. The tenant of an id never changes.
   */
  tenantsOf(ids: readonly JobId[]): Promise<readonly (string | null)[]>;
  /** The ledger of a job: its ended runs, oldest first. */
  attempts(id: JobId): Promise<readonly AttemptRecord[]>;
  /** How far a job has come; null if there is no such job. */
  progress(id: JobId): Promise<JobProgress | null>;
  /**
   * Units of a job, ordered by phase and position. `after` is the last unit of the previous page.
   */
  units(
    id: JobId,
    filter: UnitRecordFilter,
    page: { readonly after?: UnitPlace; readonly limit: number },
  ): Promise<readonly UnitRecord[]>;
  /**
   * The history of some jobs, with so many units and log lines of each at most: one answer per id,
   * in the order given. The number of statements does not depend on the number of jobs.
   */
  histories(
    ids: readonly JobId[],
    limits: { readonly units: number; readonly logs: number },
  ): Promise<readonly JobHistory[]>;
  /** Running jobs that work on a unit of this name now (000-32). */
  unitHolders(unit: string, limit: number): Promise<readonly UnitHolder[]>;
  /**
   * Lines of a job's log, oldest first. With `after`: the lines that follow that line; without: the
   * newest lines.
   */
  logs(
    id: JobId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly LogRecord[]>;
  /** The dependencies of a job (`after`) that are not final yet, and jobs whose code it awaits. */
  openDependencies(id: JobId, limit: number): Promise<readonly JobId[]>;
  /** The jobs that wait for a job (`after`), oldest first. */
  dependants(id: JobId, limit: number): Promise<readonly JobId[]>;
  /**
   * The worker whose lease has the job now, or else one where code of an ended run of the job goes
   * on; null if there is none.
   */
  holder(id: JobId): Promise<JobHolder | null>;
  /** The job whose run holds a lock of a tenant now: a concurrency key, or a lock of a unit. */
  lockHolder(tenant: string, name: string): Promise<JobId | null>;
  /**
   * Ids of a range, both of its ends included, the first ones first: of jobs, of children that gave
   * way to another job, and of dead letters.
   */
  idsBetween(range: IdRange, limit: number): Promise<readonly JobId[]>;
  /** One page of jobs, newest first. */
  list(filter: ListFilter, page: Page): Promise<Listing>;
  /**
   * Counts jobs, up to `max`. A filter that has more than states is applied to the newest 20,000
   * candidates, or to so many as `max` if that is more.
   */
  count(filter: ListFilter, max: number): Promise<MatchCount>;
  /** All closed gates. */
  gates(): Promise<readonly Gate[]>;
  /**
   * All limits, by kind and name. For a job, only its key is looked up among the rates of keys, of
   * which there may be many.
   */
  limits(job?: KeyedJob): Promise<readonly LimitRecord[]>;
  /** All fair lanes, by name. */
  fairLanes(): Promise<readonly FairLaneRecord[]>;
  /** All rules for payloads, by scope and name. */
  payloadRules(): Promise<readonly PayloadRuleRecord[]>;
  /** All closed intakes. */
  intakes(): Promise<readonly IntakeRecord[]>;
  /** All quotas: first that of tenants without one of their own. */
  quotas(): Promise<readonly QuotaRecord[]>;
  /** The quota that applies to a tenant, and its use. Null: there is none. */
  quotaUse(tenant: string): Promise<QuotaUse | null>;
  /** The names of tenants that have had a job, a schedule, a token or a setting, in their order. */
  tenantNames(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly string[]>;
  /** The removal of a tenant, also when it is done; null: there was none. */
  removal(tenant: string): Promise<RemovalRecord | null>;
  /** The removals that are under way, the oldest first. */
  openRemovals(limit: number): Promise<readonly RemovalRecord[]>;
  /**
   * Counts the queued jobs that a gate holds back, or would. Reads at most `rows` jobs of each
   * place. With `tenant`, only the jobs of that tenant count, among the jobs that are read.
   */
  countBehind(gate: GateName, rows: number, tenant?: string): Promise<CountBehind>;
  /**
   * Counts the due jobs of its lane that come before a due job in the order of the claim. Jobs
   * that a gate or a taken key holds back do not count. Reads fewer than `rows` jobs, or else the
   * count is not exact. With `tenant`, only the jobs of that tenant count, among the jobs that are
   * read. Null: the job is not due, or something holds it back.
   */
  countAhead(id: JobId, rows: number, tenant?: string): Promise<CountAhead | null>;
  /**
   * Counts the jobs of a target that workers hold: those that run, and those that are prefetched.
   * Reads at most `rows` of them, and answers the ids of at most `ids`. With `claims`, the claims
   * of the answer are those of the list that are still under way. If the target was paused before
   * the first call and a call answers no job and no claim, no job of the target runs any more.
   */
  countRunning(
    target: RunTarget,
    page: { readonly rows: number; readonly ids: number; readonly claims?: readonly string[] },
  ): Promise<RunningJobCount>;
  /** The dead letter of a job; null if there is none. */
  deadLetter(id: JobId): Promise<DeadLetterRecord | null>;
  /**
   * Groups of open dead letters by cause, the one with the newest letter first, out of the first
   * 1,000 causes, behind the cause `after`; none if `after` is not among them. `sample` is the
   * newest letter.
   */
  failureGroups(
    scope: FailureScope,
    limit: number,
    after?: string,
  ): Promise<readonly FailureGroupRecord[]>;
  /** One group. Null: no open dead letter has this cause. */
  failureGroup(cause: string, scope: FailureScope): Promise<FailureGroupRecord | null>;
  /** The decisions about causes that were made for one tenant, by cause. */
  failureDecisions(
    tenant: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly FailureDecisionRecord[]>;
  /** Open dead letters of a cause, newest first; at most 500. */
  lettersOfCause(
    cause: string,
    scope: FailureScope,
    page: LetterPage,
  ): Promise<readonly DeadLetterRecord[]>;
  /** Newest first. */
  deadLetters(filter: DeadLetterQuery, page: LetterPage): Promise<readonly DeadLetterRecord[]>;
  /** Counts dead letters that pass a filter, up to `max`. */
  countLetters(filter: DeadLetterQuery, max: number): Promise<number>;
  /**
   * The newest `rows` dead letters by status, type, category and class of error, the largest groups
   * first. With `tenant`, only letters of that tenant are read.
   */
  letterGroups(
    limits: { readonly rows: number; readonly groups: number },
    tenant?: string,
  ): Promise<LetterGroups>;
  /** The time by the clock of the store, which decides what is due. */
  time(): Promise<number>;
  /** Known workers, longest known first. */
  workers(limit: number): Promise<readonly WorkerRecord[]>;
  /** The types that workers have declared, by name, or one of them. */
  types(only?: string): Promise<readonly TypeRecord[]>;
  /** The breakers of all services that types use or that were ever changed, by name. */
  breakers(): Promise<readonly BreakerRecord[]>;
  /** What has happened to the breaker of a service, newest first. */
  breakerChanges(service: string, limit: number): Promise<readonly BreakerChange[]>;
  /** Counts of jobs by state. Each count stops at `max`. */
  stats(max: number): Promise<Stats>;
  /**
   * Counts of jobs by type, lane and tenant, the largest groups first. Reads at most `rows` jobs
   * for each count, and answers at most `groups`. With `tenant`, only the groups of that tenant are
   * answered, among the jobs that are read. With `categories`, a group has one category.
   */
  groupedStats(limits: GroupLimits, tenant?: string): Promise<GroupedStats>;
  /**
   * Figures about the runs that ended within a stretch of time: those of jobs that were removed
   * since, and those that no fold has moved yet, too. A run counts once, in the minute of its end,
   * if the ledger has a start for it. The wait of a run is the time from the due time of its job,
   * for a retry that of the retry, to its start.
   */
  minutes(query: MinutesQuery): Promise<MinutesAnswer>;
  /**
   * When workers of another version of the application began to register, newest first, within a
   * stretch of time without its last moment.
   */
  deploys(stretch: Pick<MinutesQuery, "from" | "to">, limit: number): Promise<readonly Deploy[]>;
  /** The saved views of a tenant, or of the installation (null), by name. */
  savedViews(tenant: string | null): Promise<readonly SavedViewRecord[]>;
  /** The last position that an entry of the feed was given, also if the entry was removed. */
  feedEnd(): Promise<number>;
  /**
   * The position after which no entry was removed: a reader that resumes there or later misses
   * none. Equal to {@link feedEnd} if no entry is kept.
   */
  feedStart(): Promise<number>;
  /**
   * Entries of the feed after `position`, oldest first: at most `limit`, and fewer where they have
   * many jobs or more than a million bytes. Entries of a kind in `about` carry the facts of their
   * jobs: those at the event where this process wrote the event and still knows them, else the
   * current ones, which are read once for the whole page.
   */
  feed(
    position: number,
    limit: number,
    about?: ReadonlySet<EventKind>,
  ): Promise<readonly FeedEntry[]>;
}
