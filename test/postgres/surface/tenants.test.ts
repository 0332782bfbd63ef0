/** Sessions that act for one tenant only, in plain SQL. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEQUEUE, enqueued, makeRoles, openSurface, refusalOf } from "./support.ts";
import type { Scene, Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

async function withRoles(): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  await makeRoles(scene);
  return scene;
}

const FOREIGN = "SELECT millrace.enqueue('a', '{}', tenant => 'other')";
const OWN = "SELECT millrace.enqueue('a', '{}') AS id";
const FINDINGS = "SELECT found, fix FROM millrace.role_findings() ORDER BY found";

/** Limits a role to a tenant, as the owner of the schema does. */
async function limit({ owner }: Scene, role: string, tenant = "acme"): Promise<void> {
  await owner.query("SELECT millrace.limit_role_to_tenant($1, $2)", [role, tenant]);
}

describe("limit_role_to_tenant", () => {
  test("limits the sessions of a role to one tenant", async () => {
    await using scene = await withRoles();
    const acme = await scene.as("acme_app", "millrace_producer, millrace_worker, millrace_reader");
    await scene.owner.query("SELECT millrace.limit_role_to_tenant('acme_app', 'acme')");
    const other = await enqueued(scene, "'{}', tenant => 'other'");
    const { rows } = await acme.query("SELECT millrace.enqueue('a', '{}') AS id");
    const own = rows[0].id;
    const foreign = acme.query("SELECT millrace.enqueue('a', '{}', tenant => 'other')");
    expect(await refusalOf(foreign)).toBe("MR017");
    expect(await refusalOf(acme.query("SELECT millrace.cancel($1)", [other]))).toBe("MR017");
    expect((await acme.query("SELECT task_id, tenant FROM millrace.task")).rows).toEqual([
      { task_id: own, tenant: "acme" },
    ]);
    expect((await acme.query(DEQUEUE)).rows[0].task_id).toBe(own);
    expect((await acme.query(DEQUEUE)).rows[0].task_id).toBeNull();
    expect((await acme.query("SELECT task_id FROM millrace.task_lease")).rows).toEqual([
      { task_id: own },
    ]);
  });

  test("is refused for roles that do not exist, and folds letters as GRANT does", async () => {
    await using scene = await withRoles();
    const app = await scene.as("folded_app", "millrace_producer");
    expect(await refusalOf(limit(scene, '"Folded_App"'))).toBe("42704");
    expect(await refusalOf(limit(scene, "missing_app"))).toBe("42704");
    await limit(scene, "Folded_App");
    expect(await refusalOf(app.query(FOREIGN))).toBe("MR017");
    expect(await refusalOf(app.query(OWN))).toBeNull();
  });

  test("is refused without a tenant, and for a role that owns the tables", async () => {
    await using scene = await withRoles();
    await scene.as("an_owner", "millrace_owner");
    await scene.as("an_app", "millrace_producer");
    for (const [role, tenant] of [
      ["an_owner", "acme"],
      ["postgres", "acme"],
      ["an_app", ""],
      ["an_app", null],
    ]) {
      const call = scene.rows("SELECT millrace.limit_role_to_tenant($1, $2)", [role, tenant]);
      expect(await refusalOf(call)).toBe("22023");
    }
  });

  test("is replaced by another call, and lifted by unlimit_role", async () => {
    await using scene = await withRoles();
    const app = await scene.as("moved_app", "millrace_producer");
    await limit(scene, "moved_app", "acme");
    await limit(scene, "moved_app", "other");
    expect(await refusalOf(app.query(FOREIGN))).toBeNull();
    const lift = "SELECT millrace.unlimit_role('moved_app') AS was";
    expect(await scene.rows(lift)).toEqual([{ was: true }]);
    expect(await scene.rows(lift)).toEqual([{ was: false }]);
    expect(await refusalOf(app.query("SELECT millrace.enqueue('a', tenant => 'x')"))).toBeNull();
  });
});

describe("a limit", () => {
  test("stays when its role gets another name, and doctor says how to renew it", async () => {
    await using scene = await withRoles();
    const reader = "millrace_producer, millrace_reader";
    await scene.as("old_name", reader);
    await enqueued(scene, "'{}', tenant => 'other'");
    await limit(scene, "old_name");
    await scene.owner.query("ALTER ROLE old_name RENAME TO new_name");
    const renamed = await scene.as("new_name");
    expect(await refusalOf(renamed.query(FOREIGN))).toBe("MR017");
    expect((await renamed.query("SELECT task_id FROM millrace.task")).rows).toEqual([]);
    const [finding, ...others] = await scene.rows(FINDINGS);
    expect(others).toEqual([]);
    expect(finding.found).toBe("the limit of old_name to a tenant is one of new_name now");
    await scene.owner.query(finding.fix);
    expect(await scene.rows(FINDINGS)).toEqual([]);
    expect(await refusalOf(renamed.query(FOREIGN))).toBe("MR017");
  });

  test("stays in a restored dump, where the role has another number", async () => {
    await using scene = await withRoles();
    const app = await scene.as("restored_app", "millrace_producer");
    await limit(scene, "restored_app");
    await scene.owner.query("UPDATE millrace.role_limit SET role_id = 1");
    expect(await refusalOf(app.query(FOREIGN))).toBe("MR017");
    const [finding] = await scene.rows(FINDINGS);
    expect(finding.found).toBe("the limit of restored_app to a tenant was made for another role");
    await scene.owner.query(finding.fix);
    expect(await scene.rows(FINDINGS)).toEqual([]);
  });

  test("of a group holds for its members, and not for superusers", async () => {
    await using scene = await withRoles();
    await scene.as("acme_group", "millrace_producer, millrace_reader");
    const member = await scene.as("acme_member", "acme_group");
    const task = await enqueued(scene, "'{}', tenant => 'other'");
    await limit(scene, "acme_group");
    expect(await refusalOf(member.query(FOREIGN))).toBe("MR017");
    expect((await member.query("SELECT task_id FROM millrace.task")).rows).toEqual([]);
    expect(await scene.rows("SELECT task_id FROM millrace.task")).toEqual([{ task_id: task }]);
    expect(await refusalOf(scene.owner.query(FOREIGN))).toBeNull();
    await member.query("SET ROLE acme_group");
    expect(await refusalOf(member.query(FOREIGN))).toBe("MR017");
  });

  test("to a second tenant lets a session do nothing, and says why", async () => {
    await using scene = await withRoles();
    await scene.as("one_group", "millrace_producer, millrace_reader");
    await scene.as("two_group", "millrace_producer");
    const both = await scene.as("in_both", "one_group, two_group");
    await enqueued(scene, "'{}', tenant => 'one'");
    await limit(scene, "one_group", "one");
    await limit(scene, "two_group", "one");
    expect(await refusalOf(both.query(OWN))).toBeNull();
    await limit(scene, "two_group", "two");
    await expect(both.query(OWN)).rejects.toMatchObject({
      code: "MR017",
      message: "the role in_both is limited to more than one tenant",
      hint: expect.stringContaining("unlimit_role"),
    });
    expect((await both.query("SELECT task_id FROM millrace.task")).rows).toEqual([]);
  });

  test("that names no role, or a role that now owns the tables, is found", async () => {
    await using scene = await withRoles();
    await scene.as("gone", "millrace_producer");
    await scene.as("promoted", "millrace_producer");
    await limit(scene, "gone");
    await limit(scene, "promoted");
    await scene.owner.query("DROP ROLE gone; GRANT millrace_owner TO promoted");
    const findings = await scene.rows(FINDINGS);
    expect(findings.map(({ found }) => found)).toEqual([
      "promoted is limited to a tenant, and has the rights of millrace_owner",
      "the limit of gone to a tenant names no role",
    ]);
    for (const { fix } of findings) await scene.owner.query(fix);
    expect(await scene.rows(FINDINGS)).toEqual([]);
  });
});
