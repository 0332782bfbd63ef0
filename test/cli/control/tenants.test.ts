import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { defineJob } from "../../../src/index.ts";
import { TestStore } from "../command-line.ts";
import { ServedStore } from "../server/served-store.ts";

const report = defineJob({ type: "report" });

async function withTenants(): Promise<TestStore> {
  const store = new TestStore();
  const mill = await store.mill;
  await mill.enqueueMany([report.of(), report.of()]);
  await mill.forTenant("acme").enqueue(report);
  await mill.forTenant("acme").enqueue(report, undefined, { delay: "1h" });
  await mill.forTenant("umbra").enqueue(report);
  return store;
}

describe("millrace tenants", () => {
  test("list tells jobs, pause, intake and quota of each tenant", async () => {
    await using store = await withTenants();
    await store.type("tenants", "pause", "acme", "--reason", "an audit", "--by", "ada");
    await store.type("tenants", "quota", "umbra", "--waiting", "5", "--payload-bytes", "900");
    await store.type("intake", "close", "--tenant", "umbra", "--reason", "the plan");

    const { out, code } = await store.type("tenants", "list");
    const listed = await store.json("tenants", "list");

    expect(code).toBe(0);
    expect(out).toMatch(
      /^TENANT +SCHEDULED +QUEUED +HELD +RUNNING +FAILED +PAUSED +INTAKE +QUOTA$/m,
    );
    expect(out).toMatch(/^acme +1 +0 +1 +0 +0 +paused *$/m);
    expect(out).toMatch(/^umbra +0 +1 +0 +0 +0 +closed +5 waiting, 900 bytes$/m);
    expect(listed).toMatchObject([
      { tenant: "acme", pause: { reason: "an audit", pausedBy: "ada" } },
      { tenant: "default", counts: { queued: 2 } },
      { tenant: "umbra" },
    ]);
  });

  test("show tells one tenant, with the use of its quota", async () => {
    await using store = await withTenants();
    await store.type("tenants", "quota", "acme", "--waiting", "5", "--rate", "60/1m");

    const { out } = await store.type("tenants", "show", "acme");
    const unknown = await store.type("tenants", "show", "nowhere");

    expect(out).toMatch(/^scheduled +1$/m);
    expect(out).toMatch(/^quota +5 waiting, 60 per 1 min$/m);
    expect(out).toMatch(/^waiting now +2$/m);
    expect(out).toMatch(/^tokens +60$/m);
    expect(unknown).toMatchObject({ code: 0 });
  });

  test("pause and resume hold the jobs of a tenant back", async () => {
    await using store = await withTenants();
    const mill = await store.mill;

    const paused = await store.type("tenants", "pause", "acme", "--reason", "an audit");
    const pauses = await mill.pauses();
    const words = ["tenants", "resume", "acme", "--by", "bob", "--reason", "over"];
    const resumed = await store.type(...words);
    const again = await store.type(...words);

    expect(paused.out).toBe("The tenant acme is paused.\n");
    expect(pauses).toMatchObject([{ kind: "tenant", name: "acme", reason: "an audit" }]);
    expect(resumed.out).toBe("The tenant acme is resumed.\n");
    expect(again.out).toBe("The tenant acme was not paused.\n");
    expect(await mill.pauses()).toEqual([]);
    expect(await mill.audit.list({ name: "tenant_resumed" })).toMatchObject([
      { actor: "bob", reason: "over", tenant: "acme" },
    ]);
  });

  test("quota limits a tenant, or all others, until it is removed", async () => {
    await using store = await withTenants();
    const set = await store.type("tenants", "quota", "acme", "--waiting", "2", "--by", "ada");
    const others = await store.type("tenants", "quota", "*", "--rate", "100/1m", "--burst", "3");

    const refused = await store.type("enqueue", "report", "--no-jobs", "--tenant", "acme");
    const removed = await store.type("tenants", "quota", "acme", "--remove");
    const again = await store.type("tenants", "quota", "acme", "--remove");

    expect(set.out).toBe("The quota of the tenant acme is set.\n");
    expect(others.out).toBe("The quota of all other tenants is set.\n");
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("QUOTA_EXCEEDED");
    expect(removed.out).toBe("The quota of the tenant acme is removed.\n");
    expect(again.out).toBe("The quota of the tenant acme was not set.\n");
  });

  test.each([
    [["quota", "acme"], "Name --waiting, --rate, --payload-bytes or several of them."],
    [["quota", "acme", "--waiting", "3", "--burst", "2"], "--burst belongs to --rate."],
    [["quota", "acme", "--waiting", "0"], "is not a number of jobs"],
    [["remove", "acme", "--reason", "over"], "--confirm"],
    [["remove", "acme", "--confirm", "acme"], "--reason"],
    [["remove", "acme", "--confirm", "umbra", "--reason", "over"], "confirm"],
  ])("refuses %j", async (args, message) => {
    await using store = await withTenants();

    const { code, err } = await store.type("tenants", ...args);

    expect(code).toBe(2);
    expect(err).toContain(message);
    expect((await (await store.mill).tenants.get("acme")).removal).toBeNull();
  });

  test("export prints the data of one tenant, and counts the lines at the end", async () => {
    await using store = await withTenants();

    const { out } = await store.type("tenants", "export", "acme");

    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const jobs = lines.filter(({ kind }) => kind === "job");
    expect(jobs).toHaveLength(2);
    expect(out).not.toContain("umbra");
    expect(lines.at(-1)).toMatchObject({ kind: "end", data: { lines: { job: 2 } } });
  });

  test("remove deletes one tenant, keeps its intake closed, and can be repeated", async () => {
    await using store = await withTenants();
    const words = ["remove", "acme", "--confirm", "acme", "--reason", "over", "--by", "ada"];

    const removed = await store.type("tenants", ...words);
    const again = await store.json("tenants", ...words);
    const refused = await store.type("enqueue", "report", "--no-jobs", "--tenant", "acme");

    expect(removed.code).toBe(0);
    expect(removed.out).toContain("No table mentions the tenant. Its intake stays closed.");
    expect(Object.values(again.rows)).toEqual(Object.values(again.rows).map(() => 0));
    expect(refused.err).toContain("INTAKE_CLOSED");
    const mill = await store.mill;
    expect((await mill.jobs.list({ tenant: "acme" })).jobs).toEqual([]);
    expect((await mill.jobs.list({ tenant: "umbra" })).jobs).toHaveLength(1);
  });
});

describe("millrace tenants --server", () => {
  test("lists, shows, pauses and limits as on the database", async () => {
    await using store = await ServedStore.open();
    await store.mill.forTenant("acme").enqueue(report);
    const token = ["--reason", "the plan"];

    const paused = await store.remote("tenants", "pause", "acme", ...token);
    const limited = await store.remote("tenants", "quota", "acme", "--waiting", "5", ...token);
    const list = await store.both("tenants", "list");
    const show = await store.both("tenants", "show", "acme");
    const resumed = await store.remote("tenants", "resume", "acme", "--reason", "paid");
    const removed = await store.remote("tenants", "quota", "acme", "--remove");

    expect(paused.out).toBe("The tenant acme is paused.\n");
    expect(limited.out).toBe("The quota of the tenant acme is set.\n");
    expect(list.remote).toEqual(list.local);
    expect(list.remote.out).toMatch(/^acme +0 +0 +1 .* paused +5 waiting$/m);
    expect(show.remote).toEqual(show.local);
    expect(resumed.out).toBe("The tenant acme is resumed.\n");
    expect(await store.mill.audit.list({ name: "tenant_resumed" })).toMatchObject([
      { actor: "ada", reason: "paid", tenant: "acme" },
    ]);
    expect(removed.out).toBe("The quota of the tenant acme is removed.\n");
  });

  test("exports and removes a tenant", async () => {
    await using store = await ServedStore.open();
    await store.mill.forTenant("acme").enqueue(report);
    await store.mill.forTenant("umbra").enqueue(report);
    const words = ["remove", "acme", "--confirm", "acme", "--reason", "over"];

    const exported = await store.remote("tenants", "export", "acme");
    const unconfirmed = await store.remote("tenants", ...words.with(3, "umbra"));
    const removed = await store.remote("tenants", ...words);

    const last = exported.out.trimEnd().split("\n").at(-1);
    expect(JSON.parse(last!)).toMatchObject({ kind: "end", data: { lines: { job: 1 } } });
    expect(unconfirmed.code).toBe(2);
    expect(removed.out).toContain("1 rows of the tenant acme are removed.");
    expect((await store.mill.jobs.count({ tenant: "acme" })).count).toBe(0);
    expect((await store.mill.jobs.count({ tenant: "umbra" })).count).toBe(1);
  });
});

describe("millrace doctor", () => {
  test("names a removal that has been under way for more than an hour", async () => {
    await using store = await withTenants();
    const database = new DatabaseSync(store.file);
    const begin = database.prepare(
      "INSERT INTO millrace_tenant_removal (tenant, reason, by, begun_at) VALUES (?, ?, ?, ?)",
    );
    begin.run("acme", "over", "ada", Date.now());
    const fresh = await removalsOf(store);
    database.exec("UPDATE millrace_tenant_removal SET begun_at = begun_at - 2 * 3600000");
    database.close();
    const old = await removalsOf(store);

    expect(fresh).toEqual([{ name: "removals", found: "1 under way, none for long", fix: null }]);
    expect(old).toHaveLength(1);
    expect(old[0].found).toMatch(/^the tenant acme is being removed for 2 h.*, asked for by ada;/);
    expect(old[0].fix).toContain("millrace jobs list --tenant acme --state running");
  });
});

async function removalsOf(store: TestStore): Promise<any[]> {
  const checks: any[] = JSON.parse((await store.type("doctor", "-o", "json")).out);
  return checks.filter(({ name }) => name === "removals");
}
