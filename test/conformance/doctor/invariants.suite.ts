/**
 * What `millrace doctor` finds in an installation that another program has spoilt: each invariant
 * is broken by hand, and exactly that must be found; after the statement that cures it, no more.
 */
import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { CutShort, ExamineBounds } from "../../../src/store/doctor/bounds.ts";
import {
  INVARIANTS,
  miscounted,
  type BrokenInvariant,
  type QualifyTable,
} from "../../../src/store/doctor/invariants.ts";
import { applyRepair, repairOf, type RepairableStore } from "../../../src/store/doctor/repairs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { fillStates } from "../../support/all-states.ts";
import { completed, failedWith, newSchedule, runAgain } from "../../support/factories.ts";
import {
  add,
  joinWorker,
  recordOf,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

const HOUR_MS = 3_600_000;

/** An installation that can be spoilt and examined. */
export interface Patient extends AsyncDisposable {
  readonly store: JobStore;
  readonly clock: VirtualClock;
  /** Runs SQL past the store; `millrace.x` is the table x. */
  readonly plant: (sql: string) => Promise<void>;
  /** The table of the feed to which verbs write. */
  readonly feed: string;
  /** Numbers as the database keeps a list of them. */
  readonly list: (...numbers: (number | null)[]) => string;
  /** The column `key` as such a list. */
  readonly keyAsList: string;
  /** The column of a lease with the starts of its runs. */
  readonly startColumn: string;
  readonly table: QualifyTable;
  /** The store that is examined and repaired. */
  readonly doctor: RepairableStore;
  /** Reads everything. */
  examine(): Promise<Examined>;
  /** Reads a part, as doctor does in a large installation. */
  examineWithin(bounds: ExamineBounds): Promise<Examined & { cutShort: readonly CutShort[] }>;
}

interface Examined {
  readonly findings: readonly object[];
  readonly brokenInvariants: readonly BrokenInvariant[];
}

const WIDE: ExamineBounds = { rows: 10_000, keys: 10_000 };
const NARROW: ExamineBounds = { rows: 1, keys: 1 };

/** How to break each of them, and nothing else. */
const PLANTS: Readonly<Record<string, (patient: Patient) => Promise<void>>> = {
  "job in two leases": ({ plant, startColumn }) => {
    const columns = `secret, worker, keys, ns, ranks, ${startColumn}, claimed_at`;
    return plant(`INSERT INTO millrace.lease (${columns}) SELECT ${columns} FROM millrace.lease`);
  },

  "lease against ledger": async ({ store, plant, list }) => {
    await add(store, { lane: "pair" }, { lane: "pair" });
    const batch = await take(store, { lanes: ["pair"] });
    const [first] = batch.jobs;
    assert.ok(first);
    await store.settle([settleItem(batch, first, completed())]);
    const after = `SET ns = ${list(2, 1)} WHERE number = ${batch.lease.number}`;
    await plant(`UPDATE millrace.lease ${after}`);
  },

  "place against job": ({ plant }) =>
    plant(`UPDATE millrace.scheduled SET tries = tries + 1
      WHERE key = (SELECT min(key) FROM millrace.scheduled)`),

  "overdue promotion": async ({ store, clock }) => {
    await store.foldMinutes(1_000);
    await joinWorker(store, { leaseMs: 10 * HOUR_MS });
    await clock.advance(2 * HOUR_MS);
  },

  "stale dedup key": ({ plant }) =>
    plant(`INSERT INTO millrace.dedup (tenant, type, key, job) VALUES (1, 1, 'ghost', 999999);
      INSERT INTO millrace.dedup (tenant, type, key, job)
      SELECT tenant, type, 'late', key FROM millrace.job WHERE key = ${DONE}`),

  "dedup key without holder": ({ plant }) => plant("DELETE FROM millrace.dedup WHERE tenant > 0"),

  "dedup key of two": async ({ store, plant }) => {
    await add(store, { dedup: { key: "one", onConflict: "skip" } }, {});
    await plant(`UPDATE millrace.job SET dedup = 'one'
      WHERE key = (SELECT max(key) FROM millrace.job)`);
  },

  "stale cancel request": ({ plant }) =>
    plant(`INSERT INTO millrace.cancel_request (key, at)
      SELECT key, created_at FROM millrace.job WHERE key = ${DONE}
        OR key = (SELECT min(key) FROM millrace.scheduled)`),

  "lock without run": ({ plant }) =>
    plant(`INSERT INTO millrace.lock (tenant, name, job, n)
      SELECT tenant, 'ghost', key, 1 FROM millrace.job WHERE key = ${DONE};
      INSERT INTO millrace.lock (tenant, name, job, n)
      SELECT tenant, 'later', key, n FROM millrace.scheduled
      WHERE key = (SELECT min(key) FROM millrace.scheduled)`),

  "run without its key": async ({ store, plant }) => {
    await add(store, { lane: "keyed", concurrencyKey: "docs/main" });
    await takeOne(store, { lanes: ["keyed"] });
    await plant("DELETE FROM millrace.lock");
  },

  "wait for nothing": async ({ store, plant }) => {
    const [id] = await add(store, {});
    await add(store, { after: [id] });
    await plant("DELETE FROM millrace.dependency");
  },

  "dependency without wait": ({ plant }) =>
    plant(`INSERT INTO millrace.dependency (job, depends_on, tolerant)
      SELECT key, 999999, 0 FROM millrace.job WHERE key = ${DONE}`),

  "failed without dead letter": async ({ store, clock, plant }) => {
    await clock.advance(1_000);
    await failOne(store);
    await plant(`DELETE FROM millrace.dead_letter
      WHERE died_at = (SELECT max(died_at) FROM millrace.dead_letter)`);
  },

  "dead letter without failure": ({ plant }) =>
    plant(`UPDATE millrace.dead_letter SET id = (SELECT id FROM millrace.job WHERE key = ${DONE})
      WHERE id = (SELECT id FROM millrace.dead_letter WHERE status = 1 ORDER BY id LIMIT 1)`),

  "ended run without worker": async ({ store, plant }) => {
    await joinWorker(store);
    await plant(`INSERT INTO millrace.ended_run (worker, key, n)
      SELECT id, 999999, 1 FROM millrace.worker LIMIT 1`);
  },

  "permits miscounted": async ({ store, plant }) => {
    await store.setLimit({ kind: "type", name: "email" }, { concurrency: 9, rate: null }, null);
    await plant("UPDATE millrace.limit_setting SET used = 3");
  },

  "run after the end": ({ plant, feed, keyAsList }) =>
    plant(`INSERT INTO millrace.attempt
        (key, n, tries, crashes, started_at, finished_at, outcome, state)
      SELECT key, n + 1, tries, crashes, started_at, finished_at, outcome, state
      FROM millrace.attempt WHERE key = ${DONE};
      INSERT INTO millrace.${feed} (kind, at, keys)
      SELECT 3, finished_at, ${keyAsList} FROM millrace.attempt WHERE key = ${DONE} AND n = 1`),

  "gap in the ledger": ({ plant }) =>
    plant(`UPDATE millrace.attempt SET n = n + 1 WHERE key = ${DONE}`),

  "wrong charge": async ({ store, plant }) => {
    await add(store, { lane: "twice" });
    await settleAll(store, await takeOne(store, { lanes: ["twice"] }), runAgain());
    const last = await takeOne(store, { lanes: ["twice"] });
    await settleAll(store, last, completed());
    await plant(`UPDATE millrace.attempt SET tries = 2 WHERE key = ${last.job.key} AND n = 2`);
  },

  "ledger without job": async ({ plant }) => {
    for (const table of ["run", "phase", "unit", "log", "stale", "job"]) {
      await plant(`DELETE FROM millrace.${table} WHERE key = ${DONE}`);
    }
  },

  "note without job": ({ plant }) =>
    plant(`INSERT INTO millrace.stale (key, at)
      SELECT 999999, finished_at FROM millrace.attempt WHERE key = ${DONE} AND n = 1`),

  "job without name": ({ plant }) =>
    plant(`UPDATE millrace.job SET category = 999999 WHERE key = ${DONE}`),

  "tag without job": ({ plant }) =>
    plant("INSERT INTO millrace.tag (name, value, key) VALUES ('colour', 'red', 999999)"),

  "alias without job": ({ plant }) =>
    plant(`INSERT INTO millrace.alias (id, job, parent)
      SELECT worker.id, 999999, job.key
      FROM millrace.worker AS worker CROSS JOIN millrace.job AS job LIMIT 1;
      UPDATE millrace.alias SET parent = 999999 WHERE job <> 999999`),

  "endless idempotency key": ({ plant }) =>
    plant(`INSERT INTO millrace.idempotency (tenant, key, job_id, body)
      SELECT 1, 'ghost', worker.id, held.body
      FROM millrace.idempotency AS held CROSS JOIN millrace.worker AS worker LIMIT 1`),

  "lost idempotency key": ({ plant }) => plant("DELETE FROM millrace.idempotency"),

  "change missing from the feed": ({ plant, feed }) =>
    plant(`DELETE FROM millrace.${feed} WHERE kind = 5`),

  "overdue schedule": async ({ store, clock }) => {
    await store.foldMinutes(1_000);
    const due = clock.now() + 1_000;
    await store.saveSchedule(newSchedule(), { revision: null, by: null }, () => due);
    await store.declareSchedules([newSchedule({ name: "of code" })], () => due);
    await joinWorker(store, { leaseMs: HOUR_MS });
    await clock.advance(HOUR_MS / 10);
    await store.confirmSchedules(["of code"]);
  },

  "minutes not folded": async ({ store, clock }) => {
    await joinWorker(store, { leaseMs: HOUR_MS });
    await clock.advance(HOUR_MS / 10);
  },

  "tick without schedule": ({ plant }) =>
    plant(`INSERT INTO millrace.schedule_tick (schedule, slot, at, outcome)
      SELECT 'ghost', created_at, created_at, 1 FROM millrace.job WHERE key = ${DONE}`),

  "metrics without name": async ({ store, plant }) => {
    await store.foldMinutes(1);
    await plant(
      "UPDATE millrace.minute SET type = 999999; UPDATE millrace.minute_outbox SET lane = 999999",
    );
  },
};

/** A job that is over and that nothing else hangs on. */
const DONE = `(SELECT min(plain.key) FROM millrace.job AS plain
  JOIN millrace.attempt AS ended ON ended.key = plain.key AND ended.state = 4
  WHERE plain.idempotency IS NULL AND plain.tags IS NULL)`;

async function failOne(store: JobStore): Promise<void> {
  await add(store, { lane: "late" });
  await settleAll(store, await takeOne(store, { lanes: ["late"] }), failedWith());
}

export function invariantsSuite(open: () => Promise<Patient>): void {
  describe("the invariants", () => {
    test("hold in an installation with jobs in every state", async () => {
      await using patient = await open();
      await fillStates(patient.store, 300);
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });
    });

    test("hold while time goes by, the feed is read, and retention removes things", async () => {
      await using patient = await open();
      const { store, clock } = patient;
      await fillStates(store, 300);
      await clock.advance(HOUR_MS / 2);
      await failOne(store);
      await store.feed(0, 10_000);
      await clock.advance(HOUR_MS / 2);
      const kept = { completed: 0, completed_with_errors: 0, failed: 2 * HOUR_MS, cancelled: 0 };
      const lengths = {
        deadLetterMs: HOUR_MS,
        idempotencyMs: HOUR_MS,
        eventMs: HOUR_MS,
        minutesMs: HOUR_MS,
        auditMs: HOUR_MS,
      };
      const gone = await store.prune({ finishedMs: kept, ...lengths }, 500);
      expect(gone.jobs * gone.deadLetters * gone.events).toBeGreaterThan(0);
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });
    });

    test("are all broken here", () => {
      expect(Object.keys(PLANTS)).toEqual(INVARIANTS.map(({ name }) => name));
    });

    test.each(INVARIANTS)("are found broken alone, and are cured: $name", async (invariant) => {
      await using patient = await open();
      await fillStates(patient.store, 300);
      await PLANTS[invariant.name]?.(patient);

      const { findings, brokenInvariants } = await patient.examine();

      expect(findings).toEqual([]);
      expect(brokenInvariants.map((brokenInvariant) => brokenInvariant.invariant.name)).toEqual([
        invariant.name,
      ]);
      const quick = await patient.examineWithin(WIDE);
      expect(quick).toEqual({
        findings: [],
        brokenInvariants: invariant.isDeep ? [] : brokenInvariants,
        cutShort: [],
      });
      const [{ offenders } = { offenders: [] }] = brokenInvariants;
      expect(offenders.length).toBeGreaterThan(0);
      const repair = repairOf(invariant.fix, offenders, patient.table);
      if (repair === null) return;
      await applyRepair(patient.doctor, repair);
      const { brokenInvariants: left } = await patient.examine();
      expect(left.map((brokenInvariant) => brokenInvariant.invariant.name)).not.toContain(
        invariant.name,
      );
    });

    test("are checked within bounds, and every table that has more rows is named", async () => {
      await using patient = await open();
      await fillStates(patient.store, 300);
      await patient.plant(`UPDATE millrace.ready SET tries = tries + 1
        WHERE key = (SELECT max(key) FROM millrace.ready);
        DELETE FROM millrace.scheduled WHERE key = (SELECT max(key) FROM millrace.scheduled)`);

      const partial = await patient.examineWithin(NARROW);
      const whole = await patient.examineWithin(WIDE);

      expect(partial).toMatchObject({ findings: [], brokenInvariants: [] });
      expect(partial.cutShort).toEqual(
        expect.arrayContaining([
          { table: "job", examined: 1, checks: ["lost job"] },
          {
            table: "ready",
            examined: 1,
            checks: expect.arrayContaining(["place against job", "place against ledger"]),
          },
          { table: "attempt", examined: 1, checks: ["failed without dead letter"] },
          { table: "dead_letter", examined: 1, checks: ["dead letter without failure"] },
        ]),
      );
      expect(whole.findings).toHaveLength(1);
      expect(whole.brokenInvariants.map(({ invariant }) => invariant.name)).toEqual([
        "place against job",
      ]);
      expect(whole.cutShort).toEqual([]);
    });

    test("hold again after leases were repaired, and their jobs were released", async () => {
      await using patient = await open();
      const { store, plant, list, doctor } = patient;
      await add(store, ...Array.from({ length: 6 }, () => ({ lane: "bad" })));
      const worker = await joinWorker(store);
      const batch = await take(store, { worker, lanes: ["bad"] });
      const [gone, over, odd, empty, sound, last] = batch.jobs;
      assert.ok(gone && over && odd && empty && sound && last);
      const end = settleItem(batch, over, completed());
      await store.settle([end]);
      const numbers = [1, 2, 5, null, 1, 1];
      await plant(`UPDATE millrace.lease SET ns = ${list(...numbers)}
        WHERE number = ${batch.lease.number};
        DELETE FROM millrace.job WHERE key = ${gone.key}`);

      await applyRepair(doctor, { kind: "leases" });
      const ids = [odd.id, empty.id];
      await applyRepair(doctor, { kind: "release", ids });

      expect(await Promise.all(ids.map((id) => stateOf(store, id)))).toEqual(["queued", "queued"]);
      const items = [sound, last].map((job) => settleItem(batch, job, completed()));
      expect(await store.settle(items)).toEqual(["settled", "settled"]);
      const { findings, brokenInvariants } = await patient.examine();
      expect(findings).toEqual([]);
      expect(brokenInvariants.map((broken) => broken.invariant.name)).toEqual([]);
    });

    test("leave the dependencies of lost jobs, which wait again after their release", async () => {
      await using patient = await open();
      const { store, doctor, plant, table } = patient;
      const [first] = await add(store, { lane: "first" });
      const ids = await add(store, { after: [first] }, { after: [first] });
      await plant("DELETE FROM millrace.blocked");

      const { findings, brokenInvariants } = await patient.examine();
      for (const { query, fix } of INVARIANTS) {
        const repair = repairOf(fix, [], table);
        if (query === "dependencies_without_wait" && repair) await applyRepair(doctor, repair);
      }
      await applyRepair(doctor, { kind: "release", ids });

      expect(findings.length).toBe(2);
      expect(brokenInvariants).toEqual([]);
      for (const id of ids) expect((await recordOf(store, id)).heldBy).toEqual({ kind: "after" });
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });
    });

    test("hold for a job with another priority and another due time", async () => {
      await using patient = await open();
      const [id] = await add(patient.store, {});
      await patient.store.setPriority(id, 1);
      await patient.store.reschedule(id, { delayMs: 1_000 });
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });
    });

    test("name the jobs that break them", async () => {
      await using patient = await open();
      const ids: readonly JobId[] = await add(patient.store, {}, {});
      await patient.plant("UPDATE millrace.ready SET tries = tries + 1");
      const { brokenInvariants } = await patient.examine();
      expect(brokenInvariants.flatMap(({ offenders }) => offenders.map(({ id }) => id))).toEqual(
        ids,
      );
    });

    test("of schedules hold for a pause, an end, no worker, and no declaration", async () => {
      await using patient = await open();
      const { store, clock } = patient;
      const NEW = { revision: null, by: null };
      const due = (): number => clock.now() + 1_000;
      await store.saveSchedule(newSchedule({ name: "paused" }), NEW, due);
      await store.pauseSchedule("paused", { reason: "deploy", by: null });
      await store.saveSchedule(newSchedule({ name: "over" }), NEW, () => null);
      await store.declareSchedules([newSchedule({ name: "undeclared" })], due);
      await joinWorker(store, { leaseMs: HOUR_MS });
      await clock.advance(HOUR_MS / 10);
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });

      await clock.advance(HOUR_MS);
      await store.saveSchedule(newSchedule({ name: "without worker" }), NEW, due);
      await clock.advance(HOUR_MS / 10);
      expect(await patient.examine()).toEqual({ findings: [], brokenInvariants: [] });
    });

    test("name the schedules and types that break them", async () => {
      await using patient = await open();
      await PLANTS["overdue schedule"]?.(patient);
      await patient.plant(`INSERT INTO millrace.schedule_tick (schedule, slot, at, outcome)
        SELECT 'ghost', created_at, created_at, 1 FROM millrace.schedule LIMIT 1`);
      const { brokenInvariants } = await patient.examine();
      const names = brokenInvariants.flatMap(({ offenders }) => offenders.map(({ name }) => name));
      expect(names).toEqual(["hourly", "of code", "ghost"]);
    });

    test("are broken when the feed tells of an end twice", async () => {
      await using patient = await open();
      await fillStates(patient.store, 300);
      await patient.plant(`INSERT INTO millrace.${patient.feed} (kind, at, keys)
        SELECT kind, at, keys FROM millrace.${patient.feed} WHERE kind = 6`);
      const { brokenInvariants } = await patient.examine();
      expect(brokenInvariants.map((brokenInvariant) => brokenInvariant.invariant.name)).toEqual([
        "change missing from the feed",
      ]);
    });

    test("are broken when the statistics are not those of a recount", () => {
      const counts = { scheduled: 1, queued: 2, held: 0, running: 3, failed: 0 };
      expect(miscounted(counts, counts)).toEqual([]);
      expect(miscounted(counts, { ...counts, running: 4 })).toMatchObject([
        { invariant: { means: "the statistics say 3 instead of 4 running" }, offenders: [] },
      ]);
    });
  });
}
