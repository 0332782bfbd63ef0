/** Audit entries and seals that were changed past the store: each change is refused or found. */
import { describe, expect, test } from "vitest";
import { checkAudit } from "../../../src/client/audit/verify.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { OpenedPast, OpenPast } from "../doctor/past-the-store.ts";

const DAY_MS = 86_400_000;
type Dialect = "sqlite" | "postgres";

/** Changes of tenant `a`, which has five entries, three of them on the first day. */
const CHANGES: readonly (readonly [string, string, string])[] = [
  ["the first entry is removed", "DELETE FROM {audit} WHERE id = @1", "entry_removed"],
  ["a middle entry is removed", "DELETE FROM {audit} WHERE id = @3", "entry_removed"],
  ["the last entry is removed", "DELETE FROM {audit} WHERE id = @5", "entry_removed"],
  [
    "the first entry is removed with its seal",
    "DELETE FROM {audit} WHERE id = @1; DELETE FROM {audit_seal} WHERE audit_id = @1",
    "seals_removed",
  ],
  [
    "a middle entry is removed with its seal",
    "DELETE FROM {audit} WHERE id = @2; DELETE FROM {audit_seal} WHERE audit_id = @2",
    "seals_removed",
  ],
  [
    "the last entry of a day is removed with its seal",
    "DELETE FROM {audit} WHERE id = @3; DELETE FROM {audit_seal} WHERE audit_id = @3",
    "seals_removed",
  ],
  ["an actor is changed", "UPDATE {audit} SET actor = 'bob' WHERE id = @2", "altered"],
  ["a reason is removed", "UPDATE {audit} SET reason = NULL WHERE id = @2", "altered"],
  ["a name is changed", "UPDATE {audit} SET name = 'x' WHERE id = @2", "altered"],
  ["a subject is changed", "UPDATE {audit} SET subject = 'x' WHERE id = @2", "altered"],
  ["a kind is changed", "UPDATE {audit} SET subject_kind = 'job' WHERE id = @2", "altered"],
  ["a tenant is changed", "UPDATE {audit} SET tenant = 'b' WHERE id = @2", "altered"],
  ["the state after is changed", "UPDATE {audit} SET after = '{}' WHERE id = @2", "altered"],
  ["the state before is changed", "UPDATE {audit} SET before = '{}' WHERE id = @2", "altered"],
  [
    "a time is changed",
    "UPDATE {audit} SET at = (SELECT at FROM {audit} WHERE id = @4) WHERE id = @2",
    "altered",
  ],
  [
    "two entries are swapped",
    "UPDATE {audit} SET id = 999 WHERE id = @2; UPDATE {audit} SET id = @2 WHERE id = @3;" +
      " UPDATE {audit} SET id = @3 WHERE id = 999",
    "altered",
  ],
  [
    "two seals are swapped",
    "UPDATE {audit_seal} SET audit_id = 999 WHERE audit_id = @2;" +
      " UPDATE {audit_seal} SET audit_id = @2 WHERE audit_id = @3;" +
      " UPDATE {audit_seal} SET audit_id = @3 WHERE audit_id = 999",
    "altered",
  ],
  ["the first seal is removed", "DELETE FROM {audit_seal} WHERE audit_id = @1", "seals_removed"],
  ["a middle seal is removed", "DELETE FROM {audit_seal} WHERE audit_id = @2", "seals_removed"],
  [
    "the hash of a seal is changed",
    `UPDATE {audit_seal} SET hash = '${"f".repeat(64)}' WHERE audit_id = @2`,
    "altered",
  ],
  [
    "the previous hash is changed",
    `UPDATE {audit_seal} SET previous = '${"f".repeat(64)}' WHERE audit_id = @2`,
    "altered",
  ],
  [
    "the day of a seal is changed",
    "UPDATE {audit_seal} SET day = day + 1 WHERE audit_id = @5",
    "altered",
  ],
  [
    "the position of a seal is changed",
    "UPDATE {audit_seal} SET position = 9 WHERE audit_id = @5",
    "altered",
  ],
  [
    "the time of a seal is changed",
    "UPDATE {audit_seal} SET sealed_at = (SELECT sealed_at FROM {audit_seal} WHERE audit_id = @4)" +
      " WHERE audit_id = @1",
    "altered",
  ],
  [
    "an entry is inserted before sealed ones",
    "INSERT INTO {audit} (id, at, tenant, name, subject_kind, subject)" +
      " SELECT 0, at, 'a', 'x', 'job', 'y' FROM {audit} WHERE id = @1",
    "unsealed",
  ],
  [
    "an entry is inserted with its own seal",
    "INSERT INTO {audit} (id, at, tenant, name, subject_kind, subject)" +
      " SELECT 0, at, 'a', 'x', 'job', 'y' FROM {audit} WHERE id = @1;" +
      " INSERT INTO {audit_seal} (tenant, day, position, audit_id, previous, hash, sealed_at)" +
      " SELECT tenant, day, 4, 0, hash, hash, sealed_at FROM {audit_seal} WHERE audit_id = @3",
    "altered",
  ],
];

const REFUSED = [
  "UPDATE {audit} SET actor = 'bob'",
  "DELETE FROM {audit}",
  "UPDATE {audit_seal} SET day = 1",
  "DELETE FROM {audit_seal}",
];

export function changedAuditSuite(open: OpenPast, dialect: Dialect): void {
  describe("audit that was changed past the store", () => {
    test.each(CHANGES)("%s: found", async (_what, sql, kind) => {
      await using db = await open();
      const ids = await fill(db);
      expect(await checkAudit(db.store, {})).toMatchObject({ findings: [], sealed: 7 });

      await unguarded(
        db,
        dialect,
        sql.replaceAll(/@(\d)/g, (_, n: string) => String(ids[Number(n) - 1])),
      );

      const { findings } = await checkAudit(db.store, {});
      expect(findings.map((finding) => finding.kind)).toContain(kind);
      expect(findings.every(({ tenant }) => tenant === "a" || tenant === "b")).toBe(true);
    });

    test("a sweep does not seal what was inserted before sealed entries", async () => {
      await using db = await open();
      await fill(db);
      await db.run(`INSERT INTO {audit} (id, at, tenant, name, subject_kind, subject)
                    SELECT 0, min(at), 'a', 'x', 'job', 'y' FROM {audit}`);

      expect(await db.store.sealAudit(10)).toBe(0);

      const { findings } = await checkAudit(db.store, {});
      expect(findings).toMatchObject([{ kind: "unsealed", tenant: "a", auditId: 0 }]);
    });

    test("heads of an earlier check show that the newest entries were removed", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await fill(db);
      const { heads } = await checkAudit(store, {});
      await unguarded(
        db,
        dialect,
        `DELETE FROM {audit} WHERE id = ${ids[4]};
         DELETE FROM {audit_seal} WHERE audit_id = ${ids[4]}`,
      );

      expect(await checkAudit(store, {})).toMatchObject({ findings: [] });
      const { findings } = await checkAudit(store, {}, { heads });
      expect(findings).toMatchObject([{ kind: "head_removed", tenant: "a" }]);
    });

    test.each(REFUSED)("%s: refused", async (sql) => {
      await using db = await open();
      await fill(db);

      await expect(db.run(sql)).rejects.toThrow(/audit/);

      expect(await checkAudit(db.store, {})).toMatchObject({ findings: [], sealed: 7 });
    });
  });
}

/** Five entries of tenant `a`, whose ids it answers, and two of `b`, on two days. */
async function fill({ store, clock }: OpenedPast): Promise<readonly number[]> {
  await act(store, "a", "b", "a", "a");
  await store.sealAudit(10);
  await clock.advance(DAY_MS);
  await act(store, "a", "a", "b");
  await store.sealAudit(10);
  const entries = await store.audits({ tenant: "a" }, { limit: 10, oldestFirst: true });
  return entries.map(({ id }) => id);
}

async function act(store: JobStore, ...tenants: readonly string[]): Promise<void> {
  for (const [index, name] of tenants.entries()) {
    await store.pause({ kind: "tenant", name }, { by: "ada", reason: `turn ${index}` });
  }
}

/** As the owner of the database can. */
async function unguarded(db: OpenedPast, dialect: Dialect, sql: string): Promise<void> {
  if (dialect === "postgres") {
    await db.run(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}; COMMIT`);
    return;
  }
  const guards = [
    "audit_never_changes",
    "audit_seal_never_changes",
    "audit_stays",
    "audit_seal_stays",
  ];
  for (const guard of guards) await db.run(`DROP TRIGGER {${guard}}`);
  await db.run(sql);
}
