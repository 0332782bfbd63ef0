/**
 * The store on PostgreSQL: implements the port of `../store.ts`.
 *
 * Each verb is a function in one of the folders beside this file: one statement where possible,
 * else one transaction. `docs/decisions` has the reasons for the tables.
 */
import { within, type Clock, type Dice } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { systemClock } from "../../lib/system.ts";
import { databaseOf } from "./database/place.ts";
import type { Migration } from "../shared/migrations.ts";
import type { EnqueueAnswer, NewJob, ThreadEntry } from "../types/jobs-and-runs.ts";
import type { JobStore, StorePlace, WakeUp } from "../store.ts";
import { openDependencies, resolveDependencies, runDependencyTask } from "./queue/dependencies.ts";
import { returnPrefetched, startPrefetched } from "./runs/prefetch.ts";
import { cancel } from "./jobs/cancel.ts";
import { claim } from "./runs/claim.ts";
import { claimAlone } from "./runs/claim-alone.ts";
import { SYNC_COMMIT } from "./database/connection-settings.ts";
import { heartbeatConnection } from "./database/heartbeat-connection.ts";
import { closedError, storeError } from "./database/errors.ts";
import { examine, type ExamineLimits, type ServerExamination } from "./doctor/examine.ts";
import { feed, feedEnd, feedStart } from "./events/feed.ts";
import { endCrashStreak } from "./queue/crash-streaks.ts";
import {
  countAhead,
  countBehind,
  gates,
  hold,
  pause,
  promote,
  release,
  resume,
} from "./queue/gates.ts";
import {
  declareFairness,
  fairLanes,
  giveTurns,
  removeFairness,
  setFairness,
} from "./queue/fairness.ts";
import { declareLimits, keepPermits, limits, removeLimit, setLimit } from "./queue/limits.ts";
import { countLetters, letterGroups } from "./jobs/letter-counts.ts";
import { closeIntake, intakes, openIntake } from "./jobs/intakes.ts";
import * as rules from "./jobs/payload-rules.ts";
import { hasTenantReads, readAs } from "./database/tenant-reads.ts";
import type { TenantReads } from "../types/tenants.ts";
import { quotas, quotaUse, removeQuota, setQuota } from "./jobs/quotas.ts";
import {
  beginRemoval,
  openRemovals,
  removal,
  removeOfTenant,
  tenantNames,
} from "./jobs/tenants.ts";
import { enqueueInTransaction } from "./transactions/enqueue.ts";
import { attempts, count, ends, get, idsBetween, list, tenantsOf } from "./inspect/jobs.ts";
import { dependants, holder } from "./inspect/links.ts";
import { logs } from "./inspect/logs.ts";
import { deploys } from "./inspect/deploys.ts";
import { removeView, savedViews, saveView } from "./inspect/saved-views.ts";
import { foldMinutes, minutes } from "./inspect/minutes.ts";
import { migrate, migrateRoutines } from "./database/migrate.ts";
import { record } from "./runs/record.ts";
import { countRunning } from "./inspect/running.ts";
import { hurry, intervene } from "./jobs/intervene.ts";
import { requestReprocess, retryAsNew } from "./jobs/retry.ts";
import { audits, auditSeals, chainStart, newestSealed, unsealedAudits } from "./audit/audits.ts";
import { sealAudit } from "./audit/seal.ts";
import {
  createToken,
  markTokensUsed,
  revokeToken,
  token,
  tokenOf,
  tokens,
} from "./identity/tokens.ts";
import { overdue } from "./runs/overdue.ts";
import { repairLeases } from "./doctor/repair-leases.ts";
import { send } from "./database/pool.ts";
import { OperatorWarnings } from "../shared/operator-warnings.ts";
import {
  confirmSchedules,
  declareSchedules,
  dueSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  saveSchedule,
  schedule,
  schedules,
  scheduleTicks,
} from "./schedules/schedules.ts";
import { runSchedule, tickSchedule } from "./schedules/ticks.ts";
import { reschedule, setPriority } from "./jobs/reschedule.ts";
import * as bulk from "./operations/operations.ts";
import { expired } from "./retention/expired.ts";
import { ANSWER_MS, timeoutMs } from "./database/statement-timeouts.ts";
import { Pool, type PoolOptions } from "./database/pool.ts";
import { markStale, prune, remove } from "./retention/prune.ts";
import { histories } from "./inspect/histories.ts";
import { progress, checkpoints, unitHolders, units } from "./inspect/progress.ts";
import {
  decideGroup,
  discardMany,
  failureDecisions,
  failureGroup,
  failureGroups,
  lettersOfCause,
  reprocessMany,
} from "./jobs/failures.ts";
import { annotate, deadLetter, deadLetters, reprocess, review } from "./jobs/dead-letters.ts";
import { Session } from "./database/session.ts";
import { newState } from "./database/session-state.ts";
import { settle } from "./runs/settle.ts";
import { acquireLocks, lockHolder } from "./runs/locks.ts";
import { groupedStats, stats } from "./inspect/stats.ts";
import { refuseUnfinished } from "./copy/refuse-unfinished.ts";
import { requireOwner } from "./rights/access.ts";
import { roleStatements } from "./rights/role-statements.ts";
import { Notifier } from "./events/notifier.ts";
import { rescue } from "./runs/rescue.ts";
import {
  register,
  deregister,
  quiet,
  renew,
  reportCode,
  resumeWorker,
  silent,
  stopWorker,
  time,
  workers,
} from "./runs/workers.ts";
import {
  breakerChanges,
  breakers,
  callServices,
  openBreaker,
  reportCalls,
  resetBreaker,
} from "./services/breakers.ts";
import { claimProbe } from "./services/claim-probe.ts";
import { runFunction } from "./services/functions.ts";
import { declareTypes, overrideType, types } from "./services/types.ts";

/** Jobs in one call. */
const ENQUEUE_MAX = 10_000;

export interface StoreOptions {
  readonly address: PoolOptions;
  /** Host and database for messages, without a password. */
  readonly place: string;
  readonly schema: string;
  /** Null: the server's clock decides. */
  readonly clock: Clock | null;
  readonly dice: Dice;
  readonly migrations: readonly Migration[];
  /** False: opening refuses a schema without an installation. */
  readonly create: boolean;
  readonly thread: ThreadEntry | null;
}

/** How long `close` waits for calls in progress: twice the usual statement time-out. */
const CLOSE_MS_MAX = 2 * ANSWER_MS;

export class PostgresJobStore implements JobStore {
  readonly "~store" = true;
  readonly claimsAtOnce = 2;
  readonly thread: ThreadEntry | null;
  readonly place: StorePlace;
  readonly #options: StoreOptions;
  readonly #running = new Set<Promise<unknown>>();
  readonly #warnings = new OperatorWarnings();
  #opening: Promise<Session> | null = null;
  #opened: Session | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.thread = options.thread;
    this.place = { kind: "postgres", name: databaseOf(options.address) };
  }

  /** The database is asked until it has answered once whether it offers such reads. */
  readonly tenantReads: TenantReads = {
    as: (tenant, read) =>
      this.#run(async (session) => {
        session.state.hasTenantReads ??= await hasTenantReads(session);
        if (!session.state.hasTenantReads) return read();
        return readAs(await session.names.id("tenant", tenant), read);
      }),
  };

  async open(): Promise<void> {
    if (this.#closing !== null) throw closedError();
    this.#opening ??= openAll(this.#options, this.#warnings);
    this.#opened = await this.#opening;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  readonly register: JobStore["register"] = this.#verb(register);
  readonly declareTypes: JobStore["declareTypes"] = this.#verb(declareTypes);
  readonly deregister: JobStore["deregister"] = this.#verb(deregister);
  readonly renew: JobStore["renew"] = this.#verb(renew);
  readonly claim: JobStore["claim"] = this.#verb(claim);
  readonly claimAlone: JobStore["claimAlone"] = this.#verb(claimAlone);
  readonly claimProbe: JobStore["claimProbe"] = this.#verb(claimProbe);
  readonly callServices: JobStore["callServices"] = this.#verb(callServices);
  readonly reportCalls: JobStore["reportCalls"] = this.#verb(reportCalls);
  readonly runFunction: JobStore["runFunction"] = this.#verb(runFunction);
  readonly endCrashStreak: JobStore["endCrashStreak"] = this.#verb(endCrashStreak);
  readonly startPrefetched: JobStore["startPrefetched"] = this.#verb(startPrefetched);
  readonly returnPrefetched: JobStore["returnPrefetched"] = this.#verb(returnPrefetched);
  readonly settle: JobStore["settle"] = this.#verb(settle);
  readonly record: JobStore["record"] = this.#verb(record);
  readonly acquireLocks: JobStore["acquireLocks"] = this.#verb(acquireLocks);
  readonly checkpoints: JobStore["checkpoints"] = this.#verb(checkpoints);
  readonly overdue: JobStore["overdue"] = this.#verb(overdue);
  readonly silent: JobStore["silent"] = this.#verb(silent);
  readonly rescue: JobStore["rescue"] = this.#verb(rescue);
  readonly promote: JobStore["promote"] = this.#verb(promote);
  readonly cancel: JobStore["cancel"] = this.#verb(cancel);
  readonly hurry: JobStore["hurry"] = this.#verb(hurry);
  readonly intervene: JobStore["intervene"] = this.#verb(intervene);
  readonly pause: JobStore["pause"] = this.#verb(pause);
  readonly resume: JobStore["resume"] = this.#verb(resume);
  readonly gates: JobStore["gates"] = this.#verb(gates);
  readonly limits: JobStore["limits"] = this.#verb(limits);
  readonly overrideType: JobStore["overrideType"] = this.#verb(overrideType);
  readonly setLimit: JobStore["setLimit"] = this.#verb(setLimit);
  readonly removeLimit: JobStore["removeLimit"] = this.#verb(removeLimit);
  readonly declareLimits: JobStore["declareLimits"] = this.#verb(declareLimits);
  readonly keepPermits: JobStore["keepPermits"] = this.#verb(keepPermits);
  readonly reportCode: JobStore["reportCode"] = this.#verb(reportCode);
  readonly fairLanes: JobStore["fairLanes"] = this.#verb(fairLanes);
  readonly setFairness: JobStore["setFairness"] = this.#verb(setFairness);
  readonly removeFairness: JobStore["removeFairness"] = this.#verb(removeFairness);
  readonly declareFairness: JobStore["declareFairness"] = this.#verb(declareFairness);
  readonly giveTurns: JobStore["giveTurns"] = this.#verb(giveTurns);
  readonly closeIntake: JobStore["closeIntake"] = this.#verb(closeIntake);
  readonly openIntake: JobStore["openIntake"] = this.#verb(openIntake);
  readonly intakes: JobStore["intakes"] = this.#verb(intakes);
  readonly payloadRules: JobStore["payloadRules"] = this.#verb(rules.payloadRules);
  readonly setPayloadRule: JobStore["setPayloadRule"] = this.#verb(rules.setPayloadRule);
  readonly declarePayloadRules: JobStore["declarePayloadRules"] = this.#verb(
    rules.declarePayloadRules,
  );
  readonly removePayloadRule: JobStore["removePayloadRule"] = this.#verb(rules.removePayloadRule);
  readonly setQuota: JobStore["setQuota"] = this.#verb(setQuota);
  readonly removeQuota: JobStore["removeQuota"] = this.#verb(removeQuota);
  readonly beginRemoval: JobStore["beginRemoval"] = this.#verb(beginRemoval);
  readonly removeOfTenant: JobStore["removeOfTenant"] = this.#verb(removeOfTenant);
  readonly quotas: JobStore["quotas"] = this.#verb(quotas);
  readonly quotaUse: JobStore["quotaUse"] = this.#verb(quotaUse);
  readonly tenantNames: JobStore["tenantNames"] = this.#verb(tenantNames);
  readonly removal: JobStore["removal"] = this.#verb(removal);
  readonly openRemovals: JobStore["openRemovals"] = this.#verb(openRemovals);
  readonly countAhead: JobStore["countAhead"] = this.#verb(countAhead);
  readonly countBehind: JobStore["countBehind"] = this.#verb(countBehind);
  readonly countRunning: JobStore["countRunning"] = this.#verb(countRunning);
  readonly hold: JobStore["hold"] = this.#verb(hold);
  readonly release: JobStore["release"] = this.#verb(release);
  readonly resolveDependencies: JobStore["resolveDependencies"] = this.#verb(resolveDependencies);
  readonly get: JobStore["get"] = this.#verb(get);
  readonly ends: JobStore["ends"] = this.#verb(ends);
  readonly tenantsOf: JobStore["tenantsOf"] = this.#verb(tenantsOf);
  readonly attempts: JobStore["attempts"] = this.#verb(attempts);
  readonly progress: JobStore["progress"] = this.#verb(progress);
  readonly units: JobStore["units"] = this.#verb(units);
  readonly histories: JobStore["histories"] = this.#verb(histories);
  readonly unitHolders: JobStore["unitHolders"] = this.#verb(unitHolders);
  readonly logs: JobStore["logs"] = this.#verb(logs);
  readonly openDependencies: JobStore["openDependencies"] = this.#verb(openDependencies);
  readonly dependants: JobStore["dependants"] = this.#verb(dependants);
  readonly holder: JobStore["holder"] = this.#verb(holder);
  readonly lockHolder: JobStore["lockHolder"] = this.#verb(lockHolder);
  readonly idsBetween: JobStore["idsBetween"] = this.#verb(idsBetween);
  readonly list: JobStore["list"] = this.#verb(list);
  readonly count: JobStore["count"] = this.#verb(count);
  readonly deadLetter: JobStore["deadLetter"] = this.#verb(deadLetter);
  readonly deadLetters: JobStore["deadLetters"] = this.#verb(deadLetters);
  readonly countLetters: JobStore["countLetters"] = this.#verb(countLetters);
  readonly letterGroups: JobStore["letterGroups"] = this.#verb(letterGroups);
  readonly review: JobStore["review"] = this.#verb(review);
  readonly annotate: JobStore["annotate"] = this.#verb(annotate);
  readonly failureGroups: JobStore["failureGroups"] = this.#verb(failureGroups);
  readonly failureGroup: JobStore["failureGroup"] = this.#verb(failureGroup);
  readonly failureDecisions: JobStore["failureDecisions"] = this.#verb(failureDecisions);
  readonly lettersOfCause: JobStore["lettersOfCause"] = this.#verb(lettersOfCause);
  readonly decideGroup: JobStore["decideGroup"] = this.#verb(decideGroup);
  readonly reprocessMany: JobStore["reprocessMany"] = this.#verb(reprocessMany);
  readonly discardMany: JobStore["discardMany"] = this.#verb(discardMany);
  readonly reprocess: JobStore["reprocess"] = this.#verb(reprocess);
  readonly retryAsNew: JobStore["retryAsNew"] = this.#verb(retryAsNew);
  readonly requestReprocess: JobStore["requestReprocess"] = this.#verb(requestReprocess);
  readonly audits: JobStore["audits"] = this.#verb(audits);
  readonly sealAudit: JobStore["sealAudit"] = this.#verb(sealAudit);
  readonly auditSeals: JobStore["auditSeals"] = this.#verb(auditSeals);
  readonly chainStart: JobStore["chainStart"] = this.#verb(chainStart);
  readonly newestSealed: JobStore["newestSealed"] = this.#verb(newestSealed);
  readonly unsealedAudits: JobStore["unsealedAudits"] = this.#verb(unsealedAudits);
  readonly workers: JobStore["workers"] = this.#verb(workers);
  readonly types: JobStore["types"] = this.#verb(types);
  readonly breakers: JobStore["breakers"] = this.#verb(breakers);
  readonly breakerChanges: JobStore["breakerChanges"] = this.#verb(breakerChanges);
  readonly openBreaker: JobStore["openBreaker"] = this.#verb(openBreaker);
  readonly resetBreaker: JobStore["resetBreaker"] = this.#verb(resetBreaker);
  readonly quiet: JobStore["quiet"] = this.#verb(quiet);
  readonly resumeWorker: JobStore["resumeWorker"] = this.#verb(resumeWorker);
  readonly stopWorker: JobStore["stopWorker"] = this.#verb(stopWorker);
  readonly time: JobStore["time"] = this.#verb(time);
  readonly stats: JobStore["stats"] = this.#verb(stats);
  readonly groupedStats: JobStore["groupedStats"] = this.#verb(groupedStats);
  readonly minutes: JobStore["minutes"] = this.#verb(minutes);
  readonly deploys: JobStore["deploys"] = this.#verb(deploys);
  readonly savedViews: JobStore["savedViews"] = this.#verb(savedViews);
  readonly saveView: JobStore["saveView"] = this.#verb(saveView);
  readonly removeView: JobStore["removeView"] = this.#verb(removeView);
  readonly feedEnd: JobStore["feedEnd"] = this.#verb(feedEnd);
  readonly feedStart: JobStore["feedStart"] = this.#verb(feedStart);
  readonly feed: JobStore["feed"] = this.#verb(feed);
  readonly createToken: JobStore["createToken"] = this.#verb(createToken);
  readonly tokenOf: JobStore["tokenOf"] = this.#verb(tokenOf);
  readonly markTokensUsed: JobStore["markTokensUsed"] = this.#verb(markTokensUsed);
  readonly tokens: JobStore["tokens"] = this.#verb(tokens);
  readonly token: JobStore["token"] = this.#verb(token);
  readonly revokeToken: JobStore["revokeToken"] = this.#verb(revokeToken);
  readonly declareSchedules: JobStore["declareSchedules"] = this.#verb(declareSchedules);
  readonly confirmSchedules: JobStore["confirmSchedules"] = this.#verb(confirmSchedules);
  readonly dueSchedules: JobStore["dueSchedules"] = this.#verb(dueSchedules);
  readonly tickSchedule: JobStore["tickSchedule"] = this.#verb(tickSchedule);
  readonly schedules: JobStore["schedules"] = this.#verb(schedules);
  readonly schedule: JobStore["schedule"] = this.#verb(schedule);
  readonly scheduleTicks: JobStore["scheduleTicks"] = this.#verb(scheduleTicks);
  readonly saveSchedule: JobStore["saveSchedule"] = this.#verb(saveSchedule);
  readonly pauseSchedule: JobStore["pauseSchedule"] = this.#verb(pauseSchedule);
  readonly resumeSchedule: JobStore["resumeSchedule"] = this.#verb(resumeSchedule);
  readonly runSchedule: JobStore["runSchedule"] = this.#verb(runSchedule);
  readonly removeSchedule: JobStore["removeSchedule"] = this.#verb(removeSchedule);
  readonly startOperation: JobStore["startOperation"] = this.#verb(bulk.startOperation);
  readonly claimOperations: JobStore["claimOperations"] = this.#verb(bulk.claimOperations);
  readonly applyChunk: JobStore["applyChunk"] = this.#verb(bulk.applyChunk);
  readonly stopOperation: JobStore["stopOperation"] = this.#verb(bulk.stopOperation);
  readonly failOperation: JobStore["failOperation"] = this.#verb(bulk.failOperation);
  readonly operation: JobStore["operation"] = this.#verb(bulk.operation);
  readonly operations: JobStore["operations"] = this.#verb(bulk.operations);
  readonly operationItems: JobStore["operationItems"] = this.#verb(bulk.operationItems);
  readonly setPriority: JobStore["setPriority"] = this.#verb(setPriority);
  readonly reschedule: JobStore["reschedule"] = this.#verb(reschedule);
  readonly prune: JobStore["prune"] = this.#verb(prune);
  readonly foldMinutes: JobStore["foldMinutes"] = this.#verb(foldMinutes);
  readonly expired: JobStore["expired"] = this.#verb(expired);
  readonly markStale: JobStore["markStale"] = this.#verb(markStale);
  readonly remove: JobStore["remove"] = this.#verb(remove);

  async enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#run(({ state }) => state.enqueuer.enqueue(jobs));
  }

  async enqueueInTransaction(
    tx: unknown,
    jobs: readonly NewJob[],
  ): Promise<readonly EnqueueAnswer[]> {
    checkCount(jobs);
    return this.#run((session) => enqueueInTransaction(session, tx, jobs));
  }

  watch(listener: (wakeUp: WakeUp) => void): () => void {
    return this.#use().notifier.watch(listener);
  }

  /** Checks the server, the schema and the invariants. */
  async examine(bounds: Partial<ExamineLimits> = {}): Promise<ServerExamination> {
    return this.#run((session) => examine(session, bounds));
  }

  /** The statements that make the roles of the installation, with their grants and routines. */
  readonly roleStatements: () => Promise<readonly string[]> = this.#verb(roleStatements);

  /** Brings the routines of an installation that has them to this release. */
  async migrateRoutines(): Promise<void> {
    const { schema, migrations } = this.#options;
    await this.#run(async ({ pool, access }) => {
      if (access === "tables") await migrateRoutines({ pool, schema, migrations });
    });
  }

  /** Other databases of the server whose roles have the same names. */
  async roleDatabases(): Promise<readonly string[]> {
    const rows = await this.#run(({ read }) => read.all("role_databases", {}));
    return rows.map(({ name }) => name);
  }

  /** Runs statements of `millrace doctor --fix` and `migrate --roles` in one transaction. */
  async runSql(sql: string): Promise<void> {
    // Several statements of one message are one transaction.
    const sent = { text: `${SYNC_COMMIT}; ${sql}`, query_timeout: timeoutMs("doctor", []) };
    await this.#run(async (session) => {
      requireOwner(session, "millrace doctor --fix");
      await session.pool.withConnection((client) => send(client, sent));
    });
  }

  readonly repairLeases: () => Promise<void> = this.#verb(repairLeases);

  /** Reports each warning for the operator once, such as that wake-ups do not arrive. */
  onWarning(listener: (warning: string) => void): void {
    this.#warnings.listen(listener);
  }

  #use(): Session {
    if (this.#opened === null || this.#closing !== null) throw closedError();
    return this.#opened;
  }

  /** Makes a verb of the port from its function. */
  #verb<Args extends readonly unknown[], Answer>(
    verb: (session: Session, ...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer> {
    return (...args) => this.#run((session) => verb(session, ...args));
  }

  /** Runs a verb; `close` waits for it. */
  async #run<Answer>(verb: (session: Session) => Promise<Answer>): Promise<Answer> {
    const running = verb(this.#use());
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw storeError(error, this.#options.place);
    } finally {
      this.#running.delete(running);
    }
  }

  async #close(): Promise<void> {
    // An `open` in progress completes first, so that it can be closed.
    await this.#opening?.catch(() => {});
    if (this.#opened === null) return;
    const session = this.#opened;
    session.notifier.close();
    // A call without an answer by then has a broken connection.
    await within(systemClock, CLOSE_MS_MAX, Promise.allSettled(this.#running));
    await within(systemClock, CLOSE_MS_MAX, session.dependencyTasks.done());
    await within(systemClock, CLOSE_MS_MAX, session.notifier.drained());
    await session.heartbeatConnection?.end();
    await session.pool.end();
  }
}

async function openAll(options: StoreOptions, warnings: OperatorWarnings): Promise<Session> {
  const { address, place, schema, migrations, create, clock, dice } = options;
  const pool = await Pool.make(address);
  const warn = (warning: string): void => warnings.report(warning);
  try {
    const access = await migrate({ pool, schema, migrations, dice, create, tell: warn });
    await refuseUnfinished(pool, schema, access);
    // With a replaced clock, every statement of a test goes through the pool of the test.
    const beats = clock === null ? await heartbeatConnection(address, pool) : null;
    const notifier = new Notifier({ pool, address, schema, dice, warn });
    const own = { schema, access, clock, dice, notifier, warnings };
    const parts = { pool, heartbeatConnection: beats, runDependencyTask, newState };
    return new Session({ ...own, ...parts });
  } catch (error) {
    await pool.end();
    throw storeError(error, place);
  }
}

function checkCount({ length }: readonly NewJob[]): void {
  if (length <= ENQUEUE_MAX) return;
  const limit = `at most ${ENQUEUE_MAX} jobs can be enqueued in one call`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}
