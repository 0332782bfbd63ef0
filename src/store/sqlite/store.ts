/**
 * The embedded store: the port of `../store.ts` on one SQLite file.
 * `node:sqlite` is synchronous: a verb runs from BEGIN to COMMIT without an `await`, so no other
 * verb runs in between. Writes go through the {@link Writer}, where overlapping calls share one
 * commit. Reads run directly. This file is the table of verbs; the folders implement them.
 */
import { basename } from "node:path";
import { MillraceError } from "../../core/errors.ts";
import type { CopySource } from "../shared/copy/ends.ts";
import { isOnlyProgress } from "../shared/decode-notes.ts";
import type { AcquiredLocks, NoteAnswer, OpenRun, RunNote } from "../types/notes.ts";
import type {
  Claim,
  ClaimRequest,
  EnqueueAnswer,
  JobKey,
  Lease,
  LoneClaim,
  LoneClaimRequest,
  NewJob,
  SettleAnswer,
  SettleItem,
  ThreadEntry,
} from "../types/jobs-and-runs.ts";
import type { JobStore, StorePlace, WakeUp } from "../store.ts";
import type { Promotion, Retention } from "../types/records.ts";
import type {
  CallAnswer,
  CallReport,
  ProbeClaim,
  ReportAnswer,
  ServiceCall,
} from "../types/services.ts";
import type { TokenId } from "../types/tokens.ts";
import { openDependencies, resolveDependencies, resolvesNothing } from "./queue/dependencies.ts";
import { audits, auditSeals, chainStart, newestSealed, unsealedAudits } from "./audit/audits.ts";
import { sealAudit, sealsNothing } from "./audit/seal.ts";
import { backup } from "./backup.ts";
import { returnPrefetched, startPrefetched } from "./runs/prefetch.ts";
import { cancel } from "./jobs/cancel.ts";
import { claim, claimsNothing } from "./runs/claim.ts";
import { claimAlone, claimsNoneAlone } from "./runs/lone-claim.ts";
import { endCrashStreak } from "./queue/crash-streaks.ts";
import { connect } from "./database/connection.ts";
import { migrate } from "./database/migrate.ts";
import type { StoreOptions } from "./database/store-options.ts";
import { OpenFile } from "./database/open-file.ts";
import { enqueue, enqueueParts } from "./jobs/enqueue.ts";
import { countLetters, letterGroups } from "./jobs/letter-counts.ts";
import { closeIntake, intakes, openIntake } from "./jobs/intakes.ts";
import * as rules from "./jobs/payload-rules.ts";
import { quotas, quotaUse, removeQuota, setQuota } from "./jobs/quotas.ts";
import * as tenants from "./jobs/tenants.ts";
import { examine, type ExamineOptions, type FileExamination } from "./doctor/examine.ts";
import { feed, feedEnd, feedStart } from "./events/feed.ts";
import { blockWrites, refuseMoved } from "./copy/write-block.ts";
import * as places from "./queue/gates.ts";
import * as fairness from "./queue/fairness.ts";
import { declareLimits, keepPermits, limits, removeLimit, setLimit } from "./queue/limits.ts";
import { enqueueInTransaction } from "./transactions/enqueue.ts";
import { attempts, count, ends, get, idsBetween, list, tenantsOf } from "./inspect/jobs.ts";
import { batchesOf } from "./batching/fallback.ts";
import { deploys } from "./inspect/deploys.ts";
import { removeView, savedViews, saveView } from "./inspect/saved-views.ts";
import { dependants, holder } from "./inspect/links.ts";
import { logs } from "./inspect/logs.ts";
import { foldMinutes, foldsNothing, minutes } from "./inspect/minutes.ts";
import { record } from "./runs/record.ts";
import { countRunning } from "./inspect/running.ts";
import { hurry, intervene } from "./jobs/intervene.ts";
import { requestReprocess, retryAsNew } from "./jobs/retry.ts";
import * as identity from "./identity/tokens.ts";
import * as plans from "./schedules/schedules.ts";
import { runSchedule, tickSchedule } from "./schedules/ticks.ts";
import { reschedule, setPriority } from "./jobs/reschedule.ts";
import * as bulk from "./operations/operations.ts";
import { expired } from "./retention/expired.ts";
import { overdue } from "./runs/overdue.ts";
import { markStale, prune, remove } from "./retention/prune.ts";
import { histories } from "./inspect/histories.ts";
import { progress, checkpoints, unitHolders, units } from "./inspect/progress.ts";
import * as failures from "./jobs/failures.ts";
import { annotate, deadLetter, deadLetters, reprocess, review } from "./jobs/dead-letters.ts";
import type { Session } from "./database/session.ts";
import { settle, settleParts } from "./runs/settle.ts";
import { lockHolder, acquireLocks } from "./runs/locks.ts";
import { OperatorWarnings } from "../shared/operator-warnings.ts";
import { groupedStats, stats } from "./inspect/stats.ts";
import { repairLeases } from "./doctor/repair-leases.ts";
import { rescue } from "./runs/rescue.ts";
import {
  breakerChanges,
  breakers,
  callServices,
  openBreaker,
  reportCalls,
  resetBreaker,
  settledCalls,
  settledReports,
} from "./services/breakers.ts";
import { claimProbe, claimsNoProbe } from "./services/claim-probe.ts";
import { runFunction } from "./services/functions.ts";
import { declareTypes, overrideType, types } from "./services/types.ts";
import * as registry from "./runs/workers.ts";
import { closedError } from "./batching/writer.ts";

/** The maximum of jobs in one call: it is one transaction, which blocks the event loop. */
const ENQUEUE_MAX = 10_000;

export class SqliteJobStore implements JobStore {
  readonly "~store" = true;
  readonly claimsAtOnce = 1;
  readonly thread: ThreadEntry | null;
  readonly place: StorePlace;
  readonly #options: StoreOptions;
  readonly #warnings = new OperatorWarnings();
  #opening: Promise<OpenFile> | null = null;
  #opened: OpenFile | null = null;
  #closing: Promise<void> | null = null;
  #inBacklog = false;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.thread = options.thread;
    this.place = { kind: "sqlite", name: basename(options.path) };
  }

  async open(): Promise<void> {
    if (this.#closing !== null) throw closedError();
    this.#opening ??= this.#open();
    this.#opened = await this.#opening;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  // Verbs that read one snapshot.
  readonly checkpoints: JobStore["checkpoints"] = this.#reads(checkpoints);
  readonly overdue: JobStore["overdue"] = this.#reads(overdue);
  readonly silent: JobStore["silent"] = this.#reads(registry.silent);
  readonly gates: JobStore["gates"] = this.#reads(places.gates);
  readonly limits: JobStore["limits"] = this.#reads(limits);
  readonly fairLanes: JobStore["fairLanes"] = this.#reads(fairness.fairLanes);
  readonly intakes: JobStore["intakes"] = this.#reads(intakes);
  readonly payloadRules: JobStore["payloadRules"] = this.#reads(rules.payloadRules);
  readonly quotas: JobStore["quotas"] = this.#reads(quotas);
  readonly quotaUse: JobStore["quotaUse"] = this.#reads(quotaUse);
  readonly tenantNames: JobStore["tenantNames"] = this.#reads(tenants.tenantNames);
  readonly removal: JobStore["removal"] = this.#reads(tenants.removal);
  readonly openRemovals: JobStore["openRemovals"] = this.#reads(tenants.openRemovals);
  readonly countAhead: JobStore["countAhead"] = this.#reads(places.countAhead);
  readonly countBehind: JobStore["countBehind"] = this.#reads(places.countBehind);
  readonly countRunning: JobStore["countRunning"] = this.#reads(countRunning);
  readonly get: JobStore["get"] = this.#reads(get);
  readonly ends: JobStore["ends"] = this.#reads(ends);
  readonly tenantsOf: JobStore["tenantsOf"] = this.#reads(tenantsOf);
  readonly attempts: JobStore["attempts"] = this.#reads(attempts);
  readonly progress: JobStore["progress"] = this.#reads(progress);
  readonly units: JobStore["units"] = this.#reads(units);
  readonly histories: JobStore["histories"] = this.#reads(histories);
  readonly unitHolders: JobStore["unitHolders"] = this.#reads(unitHolders);
  readonly logs: JobStore["logs"] = this.#reads(logs);
  readonly openDependencies: JobStore["openDependencies"] = this.#reads(openDependencies);
  readonly dependants: JobStore["dependants"] = this.#reads(dependants);
  readonly holder: JobStore["holder"] = this.#reads(holder);
  readonly lockHolder: JobStore["lockHolder"] = this.#reads(lockHolder);
  readonly idsBetween: JobStore["idsBetween"] = this.#reads(idsBetween);
  readonly list: JobStore["list"] = this.#reads(list);
  readonly count: JobStore["count"] = this.#reads(count);
  readonly deadLetter: JobStore["deadLetter"] = this.#reads(deadLetter);
  readonly deadLetters: JobStore["deadLetters"] = this.#reads(deadLetters);
  readonly countLetters: JobStore["countLetters"] = this.#reads(countLetters);
  readonly letterGroups: JobStore["letterGroups"] = this.#reads(letterGroups);
  readonly workers: JobStore["workers"] = this.#reads(registry.workers);
  readonly types: JobStore["types"] = this.#reads(types);
  readonly runFunction: JobStore["runFunction"] = this.#reads(runFunction);
  readonly breakers: JobStore["breakers"] = this.#reads(breakers);
  readonly breakerChanges: JobStore["breakerChanges"] = this.#reads(breakerChanges);
  readonly time: JobStore["time"] = this.#reads(registry.time);
  readonly stats: JobStore["stats"] = this.#reads(stats);
  readonly groupedStats: JobStore["groupedStats"] = this.#reads(groupedStats);
  readonly minutes: JobStore["minutes"] = this.#reads(minutes);
  readonly deploys: JobStore["deploys"] = this.#reads(deploys);
  readonly savedViews: JobStore["savedViews"] = this.#reads(savedViews);
  readonly feedEnd: JobStore["feedEnd"] = this.#reads(feedEnd);
  readonly feedStart: JobStore["feedStart"] = this.#reads(feedStart);
  readonly feed: JobStore["feed"] = this.#reads(feed);
  readonly expired: JobStore["expired"] = this.#reads(expired);
  readonly tokenOf: JobStore["tokenOf"] = this.#reads(identity.tokenOf);
  readonly tokens: JobStore["tokens"] = this.#reads(identity.tokens);
  readonly token: JobStore["token"] = this.#reads(identity.token);
  readonly dueSchedules: JobStore["dueSchedules"] = this.#reads(plans.dueSchedules);
  readonly schedules: JobStore["schedules"] = this.#reads(plans.schedules);
  readonly schedule: JobStore["schedule"] = this.#reads(plans.schedule);
  readonly scheduleTicks: JobStore["scheduleTicks"] = this.#reads(plans.scheduleTicks);
  readonly operation: JobStore["operation"] = this.#reads(bulk.operation);
  readonly operations: JobStore["operations"] = this.#reads(bulk.operations);
  readonly operationItems: JobStore["operationItems"] = this.#reads(bulk.operationItems);

  readonly audits: JobStore["audits"] = this.#reads(audits);
  readonly auditSeals: JobStore["auditSeals"] = this.#reads(auditSeals);
  readonly chainStart: JobStore["chainStart"] = this.#reads(chainStart);
  readonly newestSealed: JobStore["newestSealed"] = this.#reads(newestSealed);
  readonly unsealedAudits: JobStore["unsealedAudits"] = this.#reads(unsealedAudits);

  // Verbs that are one write transaction.
  readonly register: JobStore["register"] = this.#writes(registry.register);
  readonly declareTypes: JobStore["declareTypes"] = this.#writes(declareTypes);
  readonly openBreaker: JobStore["openBreaker"] = this.#writes(openBreaker);
  readonly resetBreaker: JobStore["resetBreaker"] = this.#writes(resetBreaker);
  readonly deregister: JobStore["deregister"] = this.#writes(registry.deregister);
  readonly renew: JobStore["renew"] = this.#writes(registry.renew);
  readonly returnPrefetched: JobStore["returnPrefetched"] = this.#writes(returnPrefetched);
  readonly rescue: JobStore["rescue"] = this.#writes(rescue);
  readonly cancel: JobStore["cancel"] = this.#writes(cancel);
  readonly hurry: JobStore["hurry"] = this.#writes(hurry);
  readonly intervene: JobStore["intervene"] = this.#writes(intervene);
  readonly pause: JobStore["pause"] = this.#writes(places.pause);
  readonly resume: JobStore["resume"] = this.#writes(places.resume);
  readonly overrideType: JobStore["overrideType"] = this.#writes(overrideType);
  readonly setLimit: JobStore["setLimit"] = this.#writes(setLimit);
  readonly removeLimit: JobStore["removeLimit"] = this.#writes(removeLimit);
  readonly declareLimits: JobStore["declareLimits"] = this.#writes(declareLimits);
  readonly keepPermits: JobStore["keepPermits"] = this.#writes(keepPermits);
  readonly reportCode: JobStore["reportCode"] = this.#writes(registry.reportCode);
  readonly setFairness: JobStore["setFairness"] = this.#writes(fairness.setFairness);
  readonly removeFairness: JobStore["removeFairness"] = this.#writes(fairness.removeFairness);
  readonly declareFairness: JobStore["declareFairness"] = this.#writes(fairness.declareFairness);
  readonly closeIntake: JobStore["closeIntake"] = this.#writes(closeIntake);
  readonly setQuota: JobStore["setQuota"] = this.#writes(setQuota);
  readonly removeQuota: JobStore["removeQuota"] = this.#writes(removeQuota);
  readonly beginRemoval: JobStore["beginRemoval"] = this.#writes(tenants.beginRemoval);
  readonly removeOfTenant: JobStore["removeOfTenant"] = this.#writes(tenants.removeOfTenant);
  readonly openIntake: JobStore["openIntake"] = this.#writes(openIntake);
  readonly setPayloadRule: JobStore["setPayloadRule"] = this.#writes(rules.setPayloadRule);
  readonly declarePayloadRules: JobStore["declarePayloadRules"] = this.#writes(
    rules.declarePayloadRules,
  );
  readonly removePayloadRule: JobStore["removePayloadRule"] = this.#writes(rules.removePayloadRule);
  readonly review: JobStore["review"] = this.#writes(review);
  readonly annotate: JobStore["annotate"] = this.#writes(annotate);
  readonly failureGroups: JobStore["failureGroups"] = this.#reads(failures.failureGroups);
  readonly failureGroup: JobStore["failureGroup"] = this.#reads(failures.failureGroup);
  readonly failureDecisions: JobStore["failureDecisions"] = this.#reads(failures.failureDecisions);
  readonly lettersOfCause: JobStore["lettersOfCause"] = this.#reads(failures.lettersOfCause);
  readonly decideGroup: JobStore["decideGroup"] = this.#writes(failures.decideGroup);
  readonly reprocessMany: JobStore["reprocessMany"] = this.#writes(failures.reprocessMany);
  readonly discardMany: JobStore["discardMany"] = this.#writes(failures.discardMany);
  readonly reprocess: JobStore["reprocess"] = this.#writes(reprocess);
  readonly retryAsNew: JobStore["retryAsNew"] = this.#writes(retryAsNew);
  readonly requestReprocess: JobStore["requestReprocess"] = this.#writes(requestReprocess);
  readonly endCrashStreak: JobStore["endCrashStreak"] = this.#writes(endCrashStreak);
  readonly quiet: JobStore["quiet"] = this.#writes(registry.quiet);
  readonly resumeWorker: JobStore["resumeWorker"] = this.#writes(registry.resumeWorker);
  readonly stopWorker: JobStore["stopWorker"] = this.#writes(registry.stopWorker);
  readonly prune: JobStore["prune"] = this.#writes(prune);
  readonly saveView: JobStore["saveView"] = this.#writes(saveView);
  readonly removeView: JobStore["removeView"] = this.#writes(removeView);
  readonly markStale: JobStore["markStale"] = this.#writes(markStale);
  readonly createToken: JobStore["createToken"] = this.#writes(identity.createToken);
  readonly revokeToken: JobStore["revokeToken"] = this.#writes(identity.revokeToken);
  readonly declareSchedules: JobStore["declareSchedules"] = this.#writes(plans.declareSchedules);
  readonly confirmSchedules: JobStore["confirmSchedules"] = this.#writes(plans.confirmSchedules);
  readonly tickSchedule: JobStore["tickSchedule"] = this.#writes(tickSchedule);
  readonly saveSchedule: JobStore["saveSchedule"] = this.#writes(plans.saveSchedule);
  readonly pauseSchedule: JobStore["pauseSchedule"] = this.#writes(plans.pauseSchedule);
  readonly resumeSchedule: JobStore["resumeSchedule"] = this.#writes(plans.resumeSchedule);
  readonly runSchedule: JobStore["runSchedule"] = this.#writes(runSchedule);
  readonly removeSchedule: JobStore["removeSchedule"] = this.#writes(plans.removeSchedule);
  readonly startOperation: JobStore["startOperation"] = this.#writes(bulk.startOperation);
  readonly applyChunk: JobStore["applyChunk"] = this.#writes(bulk.applyChunk);
  readonly stopOperation: JobStore["stopOperation"] = this.#writes(bulk.stopOperation);
  readonly failOperation: JobStore["failOperation"] = this.#writes(bulk.failOperation);
  readonly setPriority: JobStore["setPriority"] = this.#writes(setPriority);
  readonly reschedule: JobStore["reschedule"] = this.#writes(reschedule);

  // Verbs that write only if a read finds something to do.
  readonly hold: JobStore["hold"] = this.#writesUnless(places.holdsNothing, 0, places.hold);
  readonly release: JobStore["release"] = this.#writesUnless(
    places.releasesNothing,
    0,
    places.release,
  );
  readonly foldMinutes: JobStore["foldMinutes"] = this.#writesUnless(foldsNothing, 0, foldMinutes);
  readonly sealAudit: JobStore["sealAudit"] = this.#writesUnless(sealsNothing, 0, sealAudit);
  readonly giveTurns: JobStore["giveTurns"] = this.#writesUnless(
    fairness.givesNoTurns,
    { given: 0, more: false },
    fairness.giveTurns,
  );
  readonly claimOperations: JobStore["claimOperations"] = this.#writesUnless(
    bulk.claimsNoOperation,
    [],
    bulk.claimOperations,
  );

  // Verbs with more than one transaction, relaxed durability or checks.

  async enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#use().writeBatch(jobs, enqueue, enqueueParts);
  }

  async enqueueInTransaction(
    tx: unknown,
    jobs: readonly NewJob[],
  ): Promise<readonly EnqueueAnswer[]> {
    checkCount(jobs);
    const { session } = this.#use();
    return enqueueInTransaction({ ...session, path: this.#options.path }, tx, jobs);
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    // In a backlog the read before the write lock would be useless.
    const empty = this.#inBacklog
      ? null
      : await this.#read((session) => claimsNothing(session, request));
    const { session, writer } = this.#use();
    const answer = empty ?? (await claim(session, request, (work) => writer.write(work)));
    this.#inBacklog = answer.jobs.length > 0 && !answer.tookAll;
    return answer;
  }

  async claimAlone(request: LoneClaimRequest): Promise<LoneClaim | null> {
    if (await this.#read((session) => claimsNoneAlone(session, request))) return null;
    const { session, writer } = this.#use();
    return claimAlone(session, request, (work) => writer.write(work));
  }

  async claimProbe(request: LoneClaimRequest): Promise<ProbeClaim | null> {
    if (await this.#read((session) => claimsNoProbe(session, request))) return null;
    const { session, writer } = this.#use();
    return claimProbe(session, request, (work) => writer.write(work));
  }

  async callServices(calls: readonly ServiceCall[]): Promise<readonly CallAnswer[]> {
    const answers = await this.#read((session) => settledCalls(session, calls));
    return answers ?? this.#write((session) => callServices(session, calls));
  }

  async reportCalls(reports: readonly CallReport[]): Promise<readonly ReportAnswer[]> {
    const answers = await this.#read((session) => settledReports(session, reports));
    return answers ?? this.#write((session) => reportCalls(session, reports));
  }

  async startPrefetched(
    lease: Lease,
    keys: readonly JobKey[],
  ): ReturnType<JobStore["startPrefetched"]> {
    const { session, writer } = this.#use();
    // If a power failure loses the start, the run is merely not charged with the crash.
    return writer.writeRelaxed(() => startPrefetched(session, lease, keys));
  }

  async settle(items: readonly SettleItem[]): Promise<readonly SettleAnswer[]> {
    const file = this.#use();
    const answers = await file.writeBatch(items, settle, settleParts);
    // A move has taken back the jobs of all leases: the caller is told the cause.
    if (answers.includes("stale") && this.#closing === null) refuseMoved(file.database);
    return answers;
  }

  async record(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const { session, writer } = this.#use();
    const answers = batchesOf(notes).map((batch) => {
      const work = (): readonly NoteAnswer[] => record(session, batch);
      return batch.every(isOnlyProgress) ? writer.writeRelaxed(work) : writer.write(work);
    });
    return (await Promise.all(answers)).flat();
  }

  async acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks> {
    const { session, writer } = this.#use();
    // A power failure ends the run as well, and every other run that could acquire the lock.
    return writer.writeRelaxed(() => acquireLocks(session, run, names));
  }

  async markTokensUsed(ids: readonly TokenId[]): Promise<void> {
    const { session, writer } = this.#use();
    // A power failure may lose when a token was last used, and nothing else.
    return writer.writeRelaxed(() => identity.markTokensUsed(session, ids));
  }

  async promote(limit: number): Promise<Promotion> {
    const idle = await this.#read((session) => places.outlook(session));
    return idle.nextDueMs === 0 ? this.#write((session) => places.promote(session, limit)) : idle;
  }

  async resolveDependencies(limit: number): Promise<number> {
    let moved = 0;
    // One transaction resolves a bounded number of dependencies, and a job may have many.
    while (moved < limit && !(await this.#read((session) => resolvesNothing(session, limit)))) {
      moved += await this.#write((session) => resolveDependencies(session, limit - moved));
    }
    return moved;
  }

  async remove(keys: readonly JobKey[], retention: Retention): Promise<number> {
    let removed = 0;
    for (;;) {
      const { jobs, more } = await this.#write((session) => remove(session, keys, retention));
      removed += jobs;
      if (!more) return removed;
    }
  }

  /** Reports each warning for the operator once, such as a job without a row. */
  onWarning(listener: (warning: string) => void): void {
    this.#warnings.listen(listener);
  }

  watch(listener: (wakeUp: WakeUp) => void): () => void {
    return this.#use().notifier.watch(listener);
  }

  /** Copies the open database into a new file that only its owner can read. */
  async backup(file: string): Promise<void> {
    const { path } = this.#options;
    await backup(this.#use().database, path, file);
  }

  /** Takes held jobs back and blocks all writes from then on, because the installation moves. */
  async blockWrites(
    ...[moveRecord, decide]: Parameters<CopySource["blockWrites"]>
  ): Promise<number> {
    return this.#write((session) => blockWrites(this.#use().database, session, moveRecord, decide));
  }

  /** Checks the file and the jobs in it. */
  async examine(options: ExamineOptions = {}): Promise<FileExamination> {
    return this.#read((session) => examine(this.#use().database, session, options));
  }

  /** Runs statements of `millrace doctor --fix` in one transaction. */
  async runSql(sql: string): Promise<void> {
    const { database, writer } = this.#use();
    await writer.write(() => database.exec(sql));
  }

  readonly repairLeases: () => Promise<void> = this.#writes(repairLeases);

  #use(): OpenFile {
    if (this.#opened === null || this.#closing !== null) throw closedError();
    return this.#opened;
  }

  #reads<Args extends readonly unknown[], Answer>(
    verb: (session: Session, ...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer> {
    return (...args) => this.#read((session) => verb(session, ...args));
  }

  #writes<Args extends readonly unknown[], Answer>(
    verb: (session: Session, ...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer> {
    // Async, so that a closed store rejects and does not throw.
    return async (...args) => this.#write((session) => verb(session, ...args));
  }

  #writesUnless<Arg, Answer>(
    isIdle: (session: Session, arg: Arg) => boolean,
    nothing: Answer,
    verb: (session: Session, arg: Arg) => Answer,
  ): (arg: Arg) => Promise<Answer> {
    return async (arg) =>
      (await this.#read((session) => isIdle(session, arg)))
        ? nothing
        : this.#write((session) => verb(session, arg));
  }

  #write<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    return this.#use().write(work);
  }

  async #read<Answer>(work: (session: Session) => Answer): Promise<Answer> {
    return this.#use().read(work);
  }

  async #open(): Promise<OpenFile> {
    const options = this.#options;
    const { path, clock } = options;
    const database = await connect(path, clock, (opened) => migrate(opened, options, clock));
    return new OpenFile(database, options, this.#warnings);
  }

  async #close(): Promise<void> {
    // An opening in progress must finish before the database can be closed.
    await this.#opening?.catch(() => {});
    if (this.#opened === null) return;
    await this.#opened.close();
  }
}

function checkCount({ length }: readonly NewJob[]): void {
  if (length <= ENQUEUE_MAX) return;
  const limit = `at most ${ENQUEUE_MAX} jobs can be enqueued in one call`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}
