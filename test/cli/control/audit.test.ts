import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { userInfo } from "node:os";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { TestStore } from "../command-line.ts";
import { temporaryFolder } from "../programs.ts";
import { ServedStore } from "../server/served-store.ts";

/** Seals what a worker or a server would seal. */
async function seal(path: string): Promise<void> {
  const store = makeSqliteStore({ path });
  await store.open();
  while ((await store.sealAudit(100)) > 0);
  await store.close();
}

describe("millrace audit", () => {
  test("lists and exports what commands have done, with the person and the reason", async () => {
    await using store = new TestStore();
    await store.type("pause", "--lane", "fast", "--reason", "slow", "--by", "ada");
    await store.type("resume", "--lane", "fast");
    await store.type("intake", "close", "--type", "email", "--reason", "moves", "--by", "ada");

    const listed = await store.type("audit", "list", "--actor", "ada", "-o", "json");
    const named = await store.type("audit", "list", "--subject", "lane:fast", "--limit", "1");
    const exported = await store.type("audit", "export", "--name", "lane_paused");
    const none = await store.type("audit", "list", "--tenant", "nowhere");

    expect(JSON.parse(listed.out)).toMatchObject([
      { name: "intake_closed", actor: "ada", reason: "moves", tenant: null },
      { name: "lane_paused", actor: "ada", subject: { kind: "lane", name: "fast" } },
    ]);
    expect(named.out).toContain("lane_resumed");
    expect(named.out).toContain(userInfo().username);
    expect(JSON.parse(exported.out)).toMatchObject({ name: "lane_paused", reason: "slow" });
    expect(none).toMatchObject({ code: 0, out: "", err: "There are no such entries.\n" });
    expect((await store.type("audit", "list", "--subject", "x")).code).toBe(2);
  });

  test("lists and exports the acts about the whole installation alone", async () => {
    await using store = await ServedStore.open();
    await store.mill.pause({ tenant: "acme" }, "x", { actor: "ada" });
    await store.mill.pause({ lane: "fast" }, "x", { actor: "bob" });

    const list = await store.both("audit", "list", "--installation", "-o", "json");
    const lines = await store.both("audit", "export", "--installation", "--actor", "bob");
    const mixed = await store.local("audit", "list", "--installation", "--tenant", "acme");

    expect(list.remote).toEqual(list.local);
    expect(list.local.out).toContain("lane_paused");
    expect(list.local.out).not.toContain("tenant_paused");
    expect(lines.remote).toEqual(lines.local);
    expect(JSON.parse(lines.local.out)).toMatchObject({ name: "lane_paused", tenant: null });
    expect(mixed.code).toBe(2);
  });

  test("verify compares with earlier heads on a server as on its database", async () => {
    await using store = await ServedStore.open();
    const head = { tenant: null, day: "2026-01-31", position: 7, hash: "0".repeat(64) };
    using folder = temporaryFolder();
    const file = join(folder.path, "head.json");
    writeFileSync(file, JSON.stringify({ heads: [head] }));

    const { local, remote } = await store.both("audit", "verify", "--head", file, "-o", "json");

    for (const { code, out } of [local, remote]) {
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({ findings: [{ kind: "head_removed", position: 7 }] });
    }
  });

  test("verify finds changes, and doctor too", async () => {
    await using store = new TestStore();
    for (const name of ["a", "b", "c"]) await store.type("pause", "--lane", name);
    await seal(store.file);
    const intact = await store.type("audit", "verify", "-o", "json");
    const head = `${store.file}.head.json`;
    writeFileSync(head, intact.out);
    const database = new DatabaseSync(store.file);
    database.exec("DROP TRIGGER millrace_audit_never_changes");
    database.exec("DROP TRIGGER millrace_audit_stays; DROP TRIGGER millrace_audit_seal_stays");

    database.exec("UPDATE millrace_audit SET actor = 'eve' WHERE id = 2");
    const altered = await store.type("audit", "verify");
    const examined = await store.type("doctor");
    database.exec("DELETE FROM millrace_audit WHERE id > 1");
    database.exec("DELETE FROM millrace_audit_seal WHERE audit_id > 1");
    database.close();
    const cut = await store.type("audit", "verify");
    const compared = await store.type("audit", "verify", "--head", head);

    expect(intact).toMatchObject({ code: 0 });
    expect(JSON.parse(intact.out)).toMatchObject({ isIntact: true, sealed: 3, heads: [{}] });
    expect(altered).toMatchObject({ code: 1, out: expect.stringContaining("entry 2") });
    expect(examined).toMatchObject({ code: 1, out: expect.stringContaining("FINDING  audit") });
    expect(cut.code).toBe(0);
    expect(compared).toMatchObject({ code: 1, out: expect.stringContaining("no longer has") });
    const missing = await store.type("audit", "verify", "--head", "nowhere.json");
    expect(missing).toMatchObject({ code: 2 });
  });
});
