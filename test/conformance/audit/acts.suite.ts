/** Every verb of an operator writes its entry, and a call that changes nothing writes none. */
import { describe, expect, test } from "vitest";
import { firstSlot } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { Act, AuditRecord } from "../../../src/store/types/audit.ts";
import {
  declaration,
  failedWith,
  jobId,
  newJob,
  newOperation,
  newSchedule,
  newToken,
  runAgain,
  workerId,
} from "../../support/factories.ts";
import { add, addDead, joinWorker, nextCall, runOne, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const ACT: Act = { by: "ada", reason: "because" };
const BY_ADA = ["ada", "because"] as const;
const LIMIT = { concurrency: 2, rate: null };
const RATE = { concurrency: null, rate: { count: 5, perMs: 1_000, burst: 5 } };
const QUOTA = { waiting: 5, rate: null, payloadBytes: null };
const LANE = { kind: "lane", name: "fast" } as const;
const TENANT = { kind: "tenant", name: "acme" } as const;
const EVERYTHING = { kind: "installation", name: "all" } as const;

interface Case {
  readonly verb: string;
  /** Acts, and answers the name of the subject. */
  readonly act: (store: JobStore) => Promise<string>;
  readonly entry: Partial<Record<keyof AuditRecord, unknown>>;
}

const CASES: readonly Case[] = [
  {
    verb: "cancel",
    async act(store) {
      const [id] = await add(store, { tenant: "acme" });
      await store.cancel(id, ACT.by, ACT.reason);
      return id;
    },
    entry: {
      name: "job_cancel_requested",
      subjectKind: "job",
      tenant: "acme",
      before: '{"state":"queued"}',
      after: '{"state":"cancelled"}',
    },
  },
  {
    verb: "cancel",
    async act(store) {
      const [id] = await add(store, {});
      await take(store);
      await store.cancel(id, ACT.by, ACT.reason);
      return id;
    },
    entry: {
      name: "job_cancel_requested",
      tenant: "default",
      after: '{"state":"running","cancelRequested":true}',
    },
  },
  {
    verb: "setPriority",
    async act(store) {
      const [id] = await add(store, { tenant: "acme" });
      await store.setPriority(id, 7, ACT);
      return id;
    },
    entry: { name: "job_prioritised", tenant: "acme", after: '{"priority":7}' },
  },
  {
    verb: "reschedule",
    async act(store) {
      const [id] = await add(store, { tenant: "acme" });
      await store.reschedule(id, { delayMs: 9_000 }, ACT);
      return id;
    },
    entry: { name: "job_rescheduled", tenant: "acme", after: '{"delayMs":9000}' },
  },
  {
    verb: "startOperation",
    async act(store) {
      const { id } = await store.startOperation(newOperation({}, { reason: "because" }));
      return id;
    },
    entry: { name: "operation_started", subjectKind: "operation" },
  },
  {
    verb: "hurry",
    async act(store) {
      const [id] = await add(store, { due: { delayMs: 10_000 } });
      await store.hurry(id, ACT);
      return id;
    },
    entry: { name: "job_hurried", subjectKind: "job", after: '{"state":"queued"}' },
  },
  {
    verb: "hurry",
    async act(store) {
      const [first] = await add(store, {});
      const [id] = await add(store, { after: [first], due: { delayMs: 10_000 } });
      await store.hurry(id, ACT);
      return id;
    },
    entry: { name: "job_hurried", subjectKind: "job" },
  },
  {
    verb: "intervene",
    async act(store) {
      const [id] = await add(store, {});
      await store.intervene(id, () => failedWith(), ACT);
      return id;
    },
    entry: {
      name: "job_failed",
      subjectKind: "job",
      before: '{"state":"queued"}',
      after: '{"state":"failed"}',
    },
  },
  {
    verb: "intervene",
    async act(store) {
      const [id] = await add(store, {});
      await take(store);
      await store.intervene(id, () => runAgain(), ACT);
      return id;
    },
    entry: { name: "job_retried", before: '{"state":"running"}', after: '{"state":"queued"}' },
  },
  {
    verb: "retryAsNew",
    async act(store) {
      await add(store, {});
      const id = await runOne(store, failedWith());
      await store.retryAsNew({ ...newJob(), retryOf: id }, ACT);
      return id;
    },
    entry: { name: "job_retried", subjectKind: "job", tenant: "default" },
  },
  {
    verb: "pause",
    async act(store) {
      await store.pause(LANE, { by: "ada", reason: "because" });
      return "fast";
    },
    entry: { name: "lane_paused", subjectKind: "lane", tenant: null, before: null },
  },
  {
    verb: "pause",
    async act(store) {
      await store.pause(TENANT, { by: "ada", reason: "because" });
      return "acme";
    },
    entry: { name: "tenant_paused", subjectKind: "tenant", tenant: "acme" },
  },
  {
    verb: "pause",
    async act(store) {
      await store.pause(EVERYTHING, { by: "ada", reason: "because" });
      return "all";
    },
    entry: { name: "installation_paused", subjectKind: "installation", tenant: null },
  },
  {
    verb: "resume",
    async act(store) {
      await store.pause(LANE, { by: "bob", reason: "slow" });
      await store.resume(LANE, ACT);
      return "fast";
    },
    entry: { name: "lane_resumed", before: '{"reason":"slow","by":"bob"}' },
  },
  {
    verb: "closeIntake",
    async act(store) {
      await store.closeIntake(TENANT, { by: "ada", reason: "because" });
      return "acme";
    },
    entry: { name: "intake_closed", subjectKind: "tenant", tenant: "acme" },
  },
  {
    verb: "openIntake",
    async act(store) {
      await store.closeIntake(LANE, { by: "bob", reason: "full" });
      await store.openIntake(LANE, ACT);
      return "fast";
    },
    entry: { name: "intake_opened", before: '{"reason":"full","by":"bob"}' },
  },
  {
    verb: "setPayloadRule",
    async act(store) {
      const scan = { scope: "category", name: "documents" } as const;
      await store.setPayloadRule(scan, { hardBytes: 9 }, { by: "bob", reason: null });
      await store.setPayloadRule(scan, { hardBytes: 7 }, ACT);
      return "documents";
    },
    entry: {
      name: "payload_rule_set",
      subjectKind: "category",
      tenant: null,
      before: '{"rule":{"hardBytes":9}}',
      after: '{"rule":{"hardBytes":7}}',
    },
  },
  {
    verb: "removePayloadRule",
    async act(store) {
      const scan = { scope: "type", name: "scan" } as const;
      await store.declarePayloadRules([{ ...scan, rule: { hardBytes: 9 } }]);
      await store.removePayloadRule(scan, ACT);
      return "scan";
    },
    entry: {
      name: "payload_rule_removed",
      subjectKind: "type",
      before: '{"rule":{"hardBytes":9}}',
      after: null,
    },
  },
  {
    verb: "setQuota",
    async act(store) {
      await store.setQuota("acme", QUOTA, { by: "ada", reason: "because" });
      return "acme";
    },
    entry: {
      name: "quota_set",
      subjectKind: "tenant",
      tenant: "acme",
      before: null,
      after: '{"waiting":5,"rate":null,"payloadBytes":null}',
    },
  },
  {
    verb: "removeQuota",
    async act(store) {
      await store.setQuota(null, QUOTA, { by: "bob", reason: "full" });
      await store.removeQuota(null, { by: "ada", reason: "because" });
      return "all";
    },
    entry: {
      name: "quota_removed",
      subjectKind: "installation",
      tenant: null,
      before: '{"waiting":5,"rate":null,"payloadBytes":null}',
      after: null,
    },
  },
  {
    verb: "beginRemoval",
    async act(store) {
      await store.beginRemoval("acme", { by: "ada", reason: "because" });
      return "acme";
    },
    entry: { name: "tenant_removal_requested", subjectKind: "tenant", tenant: "acme" },
  },
  {
    verb: "openBreaker",
    async act(store) {
      await store.openBreaker("mail", { by: "ada", reason: "because" });
      return "mail";
    },
    entry: {
      name: "breaker_opened",
      subjectKind: "service",
      before: '{"state":"closed","failures":0}',
      after: '{"state":"open","failures":0}',
    },
  },
  {
    verb: "resetBreaker",
    async act(store) {
      await store.openBreaker("mail", { by: "bob", reason: "down" });
      await store.resetBreaker("mail", ...BY_ADA);
      return "mail";
    },
    entry: { name: "breaker_reset", after: '{"state":"closed","failures":0}' },
  },
  {
    verb: "overrideType",
    async act(store) {
      await store.declareTypes(await joinWorker(store), [declaration({ type: "email" })]);
      await store.overrideType("email", override(7), ...BY_ADA);
      return "email";
    },
    entry: {
      name: "type_overridden",
      subjectKind: "type",
      before: null,
      after: '{"lane":null,"priority":7,"maxAttempts":null,"timeoutMs":null}',
    },
  },
  {
    verb: "overrideType",
    async act(store) {
      await store.declareTypes(await joinWorker(store), [declaration({ type: "email" })]);
      await store.overrideType("email", override(7), "bob");
      await store.overrideType("email", null, ...BY_ADA);
      return "email";
    },
    entry: {
      name: "type_reset",
      before: '{"lane":null,"priority":7,"maxAttempts":null,"timeoutMs":null}',
      after: null,
    },
  },
  {
    verb: "setLimit",
    async act(store) {
      await store.setLimit(TENANT, LIMIT, ...BY_ADA);
      return "acme";
    },
    entry: {
      name: "limit_set",
      subjectKind: "tenant",
      tenant: "acme",
      before: null,
      after: '{"concurrency":2,"rate":null}',
    },
  },
  {
    verb: "setLimit",
    async act(store) {
      await store.setLimit({ kind: "key", name: "k", tenant: "acme" }, RATE, ...BY_ADA);
      return "k";
    },
    entry: {
      name: "limit_set",
      subjectKind: "key",
      tenant: "acme",
      after: '{"concurrency":null,"rate":{"count":5,"perMs":1000,"burst":5}}',
    },
  },
  {
    verb: "removeLimit",
    async act(store) {
      await store.setLimit({ kind: "type", name: "email" }, LIMIT, "bob");
      await store.removeLimit({ kind: "type", name: "email" }, ACT);
      return "email";
    },
    entry: { name: "limit_removed", before: '{"concurrency":2,"rate":null}', after: null },
  },
  {
    verb: "removeLimit",
    async act(store) {
      await store.setLimit({ kind: "key", name: "k", tenant: "acme" }, RATE, "bob");
      await store.removeLimit({ kind: "key", name: "k", tenant: "acme" }, ACT);
      return "k";
    },
    entry: { name: "limit_removed", subjectKind: "key", tenant: "acme", after: null },
  },
  {
    verb: "setFairness",
    async act(store) {
      await store.setFairness("fast", { acme: 2 }, "bob");
      await store.setFairness("fast", { acme: 3 }, ...BY_ADA);
      return "fast";
    },
    entry: {
      name: "fairness_set",
      subjectKind: "lane",
      tenant: null,
      before: '{"weights":{"acme":2}}',
      after: '{"weights":{"acme":3}}',
    },
  },
  {
    verb: "removeFairness",
    async act(store) {
      await store.setFairness("fast", { acme: 2 }, "bob");
      await store.removeFairness("fast", ACT);
      return "fast";
    },
    entry: { name: "fairness_removed", before: '{"weights":{"acme":2}}', after: null },
  },
  {
    verb: "saveView",
    async act(store) {
      const view = { tenant: "acme", name: "mails", query: "payload=to:ada" };
      await store.saveView({ ...view, screen: "jobs", by: "bob" });
      await store.saveView({ ...view, screen: "failures", by: "ada" }, "because");
      await store.saveView({ ...view, screen: "failures", by: "eve" });
      return "mails";
    },
    entry: {
      name: "view_saved",
      subjectKind: "view",
      tenant: "acme",
      before: '{"screen":"jobs"}',
      after: '{"screen":"failures"}',
    },
  },
  {
    verb: "removeView",
    async act(store) {
      const view = { tenant: null, name: "mails" };
      await store.saveView({ ...view, screen: "jobs", query: "", by: "bob" });
      await store.removeView(view, ACT);
      await store.removeView(view, ACT);
      return "mails";
    },
    entry: {
      name: "view_removed",
      subjectKind: "view",
      tenant: null,
      before: '{"screen":"jobs"}',
      after: null,
    },
  },
  {
    verb: "quiet",
    async act(store) {
      const worker = await joinWorker(store);
      await store.quiet(worker, ACT);
      return worker;
    },
    entry: { name: "worker_quieted", subjectKind: "worker", tenant: null },
  },
  {
    verb: "resumeWorker",
    async act(store) {
      const worker = await joinWorker(store);
      await store.quiet(worker);
      await store.resumeWorker(worker, ACT);
      return worker;
    },
    entry: { name: "worker_resumed", subjectKind: "worker", tenant: null },
  },
  {
    verb: "stopWorker",
    async act(store) {
      const worker = await joinWorker(store);
      await store.stopWorker(worker, ACT);
      return worker;
    },
    entry: { name: "worker_stop_requested", subjectKind: "worker", tenant: null },
  },
  {
    verb: "review",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.review(id, { status: "acknowledged", by: "ada", notes: "because" });
      return id;
    },
    entry: {
      name: "job_dlq_acknowledged",
      subjectKind: "job",
      tenant: "acme",
      before: '{"status":"pending_review"}',
      after: '{"status":"acknowledged"}',
    },
  },
  {
    verb: "review",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.review(id, { status: "discarded", by: "ada", notes: "because" });
      return id;
    },
    entry: { name: "job_dlq_discarded", after: '{"status":"discarded"}' },
  },
  {
    verb: "annotate",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.annotate(id, { act: "noted", by: "ada", notes: "because" });
      return id;
    },
    entry: { name: "job_dlq_noted", subjectKind: "job", tenant: "acme" },
  },
  {
    verb: "annotate",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.annotate(id, { act: "assigned", by: "bob", to: "eve", notes: null });
      await store.annotate(id, { act: "assigned", by: "ada", to: null, notes: "because" });
      return id;
    },
    entry: {
      name: "job_dlq_assigned",
      before: '{"assignedTo":"eve"}',
      after: '{"assignedTo":null}',
    },
  },
  {
    verb: "decideGroup",
    async act(store) {
      const decision = { kind: "snoozed", by: "ada", notes: "because", forMs: 5 } as const;
      await store.decideGroup("0123456789abcdef", {}, decision);
      return "0123456789abcdef";
    },
    entry: {
      name: "failure_group_snoozed",
      subjectKind: "cause",
      tenant: null,
      after: '{"forMs":5}',
    },
  },
  {
    verb: "requestReprocess",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.requestReprocess([{ id, changes: '[{"path":"$.a","after":1}]' }], ACT);
      return id;
    },
    entry: {
      name: "job_dlq_reprocess_requested",
      subjectKind: "job",
      tenant: "acme",
      after: '{"changes":[{"path":"$.a","after":1}]}',
    },
  },
  {
    verb: "reprocess",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      const successor = newJob({ tenant: "acme", retryOf: id });
      await store.reprocess(id, successor, "ada", "because");
      return id;
    },
    entry: {
      name: "job_dlq_reprocess_success",
      subjectKind: "job",
      tenant: "acme",
      before: '{"status":"pending_review"}',
      after: expect.stringContaining('"status":"reprocessed","successor":"'),
    },
  },
  {
    verb: "reprocessMany",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      const successor = { ...newJob({ tenant: "acme" }), retryOf: id };
      await store.reprocessMany([successor], "ada", "because");
      return id;
    },
    entry: { name: "job_dlq_reprocess_success", subjectKind: "job", tenant: "acme" },
  },
  {
    verb: "discardMany",
    async act(store) {
      const [id] = await addDead(store, { tenant: "acme" });
      await store.discardMany([id], "ada", "because");
      return id;
    },
    entry: { name: "job_dlq_discarded", subjectKind: "job", tenant: "acme" },
  },
  {
    verb: "saveSchedule",
    async act(store) {
      const spec = newSchedule({ job: { tenant: "acme", payload: '{"card":"4711"}' } });
      await store.saveSchedule(spec, { revision: null, ...ACT }, firstSlot);
      return "hourly";
    },
    entry: {
      name: "schedule_created",
      subjectKind: "schedule",
      tenant: "acme",
      before: null,
      after: expect.stringMatching(/^(?!.*4711)/),
    },
  },
  {
    verb: "saveSchedule",
    async act(store) {
      await store.saveSchedule(newSchedule(), { revision: null, by: "bob" }, firstSlot);
      const daily = newSchedule({ cron: "@daily" });
      await store.saveSchedule(daily, { revision: 1, ...ACT }, firstSlot);
      return "hourly";
    },
    entry: {
      name: "schedule_updated",
      before: expect.stringContaining("@hourly"),
      after: expect.stringContaining("@daily"),
    },
  },
  {
    verb: "pauseSchedule",
    async act(store) {
      await store.saveSchedule(newSchedule(), { revision: null, by: "bob" }, firstSlot);
      await store.pauseSchedule("hourly", { by: "ada", reason: "because" });
      return "hourly";
    },
    entry: { name: "schedule_paused", before: '{"paused":false}', after: '{"paused":true}' },
  },
  {
    verb: "resumeSchedule",
    async act(store) {
      await store.saveSchedule(newSchedule(), { revision: null, by: "bob" }, firstSlot);
      await store.pauseSchedule("hourly", { by: "bob", reason: "holidays" });
      await store.resumeSchedule("hourly", firstSlot, ACT);
      return "hourly";
    },
    entry: { name: "schedule_resumed", before: '{"paused":true}', after: '{"paused":false}' },
  },
  {
    verb: "runSchedule",
    async act(store) {
      await store.saveSchedule(newSchedule(), { revision: null, by: "bob" }, firstSlot);
      const make = (): ReturnType<typeof newJob> => newJob();
      await store.runSchedule("hourly", make, ACT);
      return "hourly";
    },
    entry: { name: "schedule_run", after: expect.stringContaining('{"job":"') },
  },
  {
    verb: "removeSchedule",
    async act(store) {
      await store.saveSchedule(newSchedule(), { revision: null, by: "bob" }, firstSlot);
      await store.removeSchedule("hourly", ACT);
      return "hourly";
    },
    entry: { name: "schedule_removed", before: expect.stringContaining("@hourly"), after: null },
  },
  {
    verb: "createToken",
    async act(store) {
      const token = newToken({ createdBy: "ada", tenant: "acme", roles: ["viewer"] });
      await store.createToken(token, "because");
      return token.id;
    },
    entry: {
      name: "token_created",
      subjectKind: "token",
      tenant: "acme",
      after: expect.stringContaining('"roles":["viewer"]'),
    },
  },
  {
    verb: "revokeToken",
    async act(store) {
      const token = newToken({ createdBy: "bob" });
      await store.createToken(token);
      await store.revokeToken(token.id, ACT);
      return token.id;
    },
    entry: { name: "token_revoked", subjectKind: "token", tenant: null, after: null },
  },
];

export function auditActsSuite(open: OpenStore): void {
  describe("retryAsNew", () => {
    test("enqueues one successor, also behind a closed intake, and wakes workers", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await addDead(store, { tenant: "acme" });
      await store.closeIntake(EVERYTHING, { by: null, reason: "a deploy" });
      const called = nextCall(store);

      const made = await store.retryAsNew({ ...newJob({ tenant: "acme" }), retryOf: first }, ACT);
      const again = await store.retryAsNew({ ...newJob({ tenant: "acme" }), retryOf: first }, ACT);

      expect(made).toMatchObject({ status: "created", state: "queued" });
      expect(await called).toBe("called");
      expect(again).toMatchObject({ status: "existing" });
      expect("id" in made && "id" in again && made.id === again.id).toBe(true);
      const retried = await store.audits({ name: "job_retried" }, { limit: 10 });
      expect(retried).toMatchObject([{ subject: first, tenant: "acme", actor: "ada" }]);
    });
  });

  describe("retryAsNew of a job with a dead letter", () => {
    test.each([ACT, undefined])("reprocesses the letter if it is open (%j)", async (act) => {
      await using db = await open();
      const { store } = db;
      const [dead, closed] = await addDead(store, {}, {});
      await store.review(closed, { status: "discarded", by: "bob", notes: null });
      const successors = [dead, closed].map((id) => ({ ...newJob(), retryOf: id }));
      for (const successor of successors) await store.retryAsNew(successor, act);

      expect(await store.deadLetter(dead)).toMatchObject({
        status: "reprocessed",
        reviewedBy: act?.by ?? "jobs.retry",
        successor: successors[0]?.id,
      });
      expect(await store.deadLetter(closed)).toMatchObject({ status: "discarded" });
      const named = await store.audits({ name: "job_dlq_reprocess_success" }, { limit: 10 });
      expect(named).toMatchObject([{ subject: dead, actor: act?.by ?? null }]);
    });
  });

  describe("requestReprocess", () => {
    test("records each open letter, and answers how many", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two, closed] = await addDead(store, { tenant: "a" }, { tenant: "b" }, {});
      await store.review(closed, { status: "discarded", by: "bob", notes: null });
      const ids = [one, two, closed, jobId()];

      const count = await store.requestReprocess(
        ids.map((id) => ({ id, changes: null })),
        ACT,
      );

      expect(count).toBe(2);
      const name = "job_dlq_reprocess_requested";
      const entries = await store.audits({ name }, { limit: 10, oldestFirst: true });
      expect(entries.map(({ subject, tenant }) => [subject, tenant])).toEqual([
        [one, "a"],
        [two, "b"],
      ]);
    });
  });

  describe("audit of each verb", () => {
    test.each(CASES)("$verb writes $entry.name, with actor and time", async ({ act, entry }) => {
      await using db = await open();
      const { store, clock } = db;

      const subject = await act(store);

      const [last] = await store.audits({}, { limit: 1 });
      expect(last).toMatchObject({
        actor: "ada",
        reason: "because",
        at: clock.now(),
        subject,
        ...entry,
      });
      expect(last).not.toHaveProperty("payload");
    });

    test("a call that changes nothing writes no entry", async () => {
      await using db = await open();
      const { store } = db;
      const [queued] = await add(store, {});
      const [dead] = await addDeadAfter(store);
      await store.review(dead, { status: "discarded", by: "ada", notes: null });
      const before = await store.audits({}, { limit: 100 });
      const [none, why] = [jobId(), { by: "ada", reason: "x" }];

      await store.cancel(none, "ada", null);
      await store.cancel(dead, "ada", null);
      await store.hurry(none, ACT);
      await store.hurry(dead, ACT);
      await store.hurry(queued, ACT);
      await store.intervene(none, () => failedWith(), ACT);
      await store.intervene(dead, () => failedWith(), ACT);
      await store.resume({ kind: "lane", name: "fast" }, ACT);
      await store.openIntake({ kind: "lane", name: "fast" }, ACT);
      await store.resetBreaker("mail", "ada");
      await store.overrideType("unknown", override(1), "ada");
      await store.overrideType("unknown", null, "ada");
      await store.removeLimit({ kind: "type", name: "email" }, ACT);
      await store.removeLimit({ kind: "key", name: "k", tenant: "default" }, ACT);
      await store.removeFairness("fast", ACT);
      await store.quiet(workerId(), ACT);
      await store.resumeWorker(workerId(), ACT);
      await store.stopWorker(workerId(), ACT);
      await store.review(none, { status: "discarded", by: "ada", notes: null });
      await store.review(dead, { status: "discarded", by: "ada", notes: null });
      await store.annotate(none, { act: "noted", by: "ada", notes: "x" });
      await store.annotate(dead, { act: "assigned", by: "ada", to: "eve", notes: null });
      await store.decideGroup("0123456789abcdef", { tenant: "nowhere" }, SEEN);
      await store.requestReprocess([{ id: none, changes: null }], ACT);
      await store.requestReprocess([{ id: dead, changes: null }], ACT);
      await store.reprocess(dead, newJob({ retryOf: dead }), "ada", null);
      await store.discardMany([none, dead], "ada", null);
      await store.pauseSchedule("none", why);
      await store.resumeSchedule("none", firstSlot, ACT);
      await store.removeSchedule("none", ACT);
      await store.revokeToken(none, ACT);

      expect(await store.audits({}, { limit: 100 })).toEqual(before);
    });

    test("a second cancel request of a running job writes no entry", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await take(store);

      await store.cancel(id, "ada", "first");
      await store.cancel(id, "bob", "second");

      expect(await store.audits({}, { limit: 10 })).toMatchObject([{ actor: "ada" }]);
    });

    test("sessions and streams, which a server makes itself, have no entry", async () => {
      await using db = await open();
      const { store } = db;
      const [session, stream] = [
        newToken({ kind: "session" }),
        newToken({ kind: "stream", jobId: jobId() }),
      ];

      for (const token of [session, stream]) await store.createToken(token);
      await store.revokeToken(session.id, ACT);
      await store.revokeToken(stream.id, ACT);

      expect(await store.audits({}, { limit: 10 })).toEqual([]);
    });

    test("a refused reprocessing, a discard and a mark leave entries (003-35)", async () => {
      await using db = await open();
      const { store } = db;
      const dedup = { key: "k", onConflict: "skip" } as const;
      const [id] = await addDead(store, { dedup });
      await add(store, { dedup });

      await store.requestReprocess([{ id, changes: null }], ACT);
      await store.reprocess(id, newJob({ retryOf: id, dedup }), "ada", null);

      for (const status of ["acknowledged", "discarded"] as const) {
        await store.review(id, { status, by: "ada", notes: null });
      }

      const entries = await store.audits({}, { limit: 10, oldestFirst: true });
      expect(entries.map(({ name }) => name)).toEqual([
        "job_dlq_reprocess_requested",
        "job_dlq_acknowledged",
        "job_dlq_discarded",
      ]);
    });

    test("one entry per letter of a chunk", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await addDead(store, { tenant: "a" }, { tenant: "b" });

      await store.requestReprocess(
        ids.map((id) => ({ id, changes: null })),
        ACT,
      );
      await store.discardMany(ids, "ada", null);

      const entries = await store.audits({}, { limit: 10, oldestFirst: true });
      expect(entries.map(({ name, tenant, subject }) => [name, tenant, subject])).toEqual(
        expect.arrayContaining([
          ["job_dlq_reprocess_requested", "a", ids[0]],
          ["job_dlq_reprocess_requested", "b", ids[1]],
          ["job_dlq_discarded", "a", ids[0]],
          ["job_dlq_discarded", "b", ids[1]],
        ]),
      );
      expect(entries).toHaveLength(4);
    });

    test("an act that fails leaves no entry", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const refuse = (): never => {
        throw new Error("no");
      };

      await expect(store.intervene(id, refuse, ACT)).rejects.toThrow("no");

      expect(await store.audits({}, { limit: 10 })).toEqual([]);
    });
  });
}

const SEEN = { kind: "acknowledged", by: "ada", notes: null } as const;

function override(priority: number) {
  return { lane: null, priority, maxAttempts: null, timeoutMs: null };
}

/** A dead letter beside a job that waits in another lane. */
async function addDeadAfter(store: JobStore): Promise<readonly [string]> {
  const [id] = await add(store, { lane: "slow" });
  await store.intervene(id, () => failedWith());
  return [id];
}
