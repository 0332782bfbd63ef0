/** Who may call the admin API: authenticated, staff, and Manager or above. */
import { describe, expect, test } from "vitest";
import { FIRM, World } from "./world.ts";

const ENDPOINTS = [
  ["GET", "/queue/"],
  ["GET", "/queue/statistics/"],
  ["GET", "/dlq/"],
  ["GET", "/dlq/1/"],
  ["POST", "/dlq/1/reprocess/"],
  ["POST", "/dlq/1/discard/"],
  ["GET", "/dlq/statistics/"],
  ["GET", "/unknown/"],
] as const;

describe("the admin API", () => {
  test.each(ENDPOINTS)(
    "refuses %s %s unless all three gates are passed (003-29)",
    async (...at) => {
      const [method, path] = at;
      await using world = await World.open();
      await world.deadJob();
      await world.get("/dlq/");
      const tokens = {
        anonymous: null,
        forged: "mr_person_0000000000000000000000000000000000000000000",
        client: await world.addUser("client", { isStaff: false, role: "manager" }),
        member: await world.addUser("member", { isStaff: true, role: "member" }),
      };

      const statuses: Record<string, number> = {};
      for (const [who, token] of Object.entries(tokens)) {
        const { status, body } = await world.ask(path, { method }, token);
        statuses[who] = status;
        expect(Object.keys(body)).toEqual(["detail"]);
      }

      expect(statuses).toEqual({ anonymous: 401, forged: 401, client: 403, member: 403 });
      expect((await world.get("/dlq/1/")).body.status).toBe("pending_review");
    },
  );

  test.each(["manager", "partner"] as const)("answers a %s of the staff (003-29)", async (role) => {
    await using world = await World.open();
    const token = await world.addUser("mary", { role });

    expect(await world.ask("/dlq/", {}, token)).toMatchObject({ status: 200 });
  });

  test("takes a bearer token and nothing else (003-30)", async () => {
    await using world = await World.open();
    const token = await world.addUser("mary", { role: "manager" });

    const inQuery = await world.ask(`/dlq/?token=${token}`, {}, null);
    const cut = await world.ask("/dlq/", {}, token.slice(0, -1));
    const whole = await world.ask("/dlq/", {}, token);

    expect([inQuery.status, cut.status, whole.status]).toEqual([401, 401, 200]);
    expect(inQuery.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("refuses a token that was revoked, and a user who is no manager any more", async () => {
    await using world = await World.open();
    const { mill } = world.kit;
    const token = await world.addUser("mary", { role: "manager" });
    const demoted = await world.addUser("joan", { role: "manager" });
    const [mary] = (await mill.tokens.list()).filter(({ actor }) => actor === "mary");

    await mill.tokens.revoke(mary!.id);
    world.practice.db.prepare("UPDATE firm_user SET role = 'member' WHERE name = 'joan'").run();

    expect((await world.ask("/dlq/", {}, token)).status).toBe(401);
    expect((await world.ask("/dlq/", {}, demoted)).status).toBe(403);
  });

  test("refuses tokens of programs, and those that belong to no firm", async () => {
    await using world = await World.open();
    const { tokens } = world.kit.mill;
    const tenant = String(FIRM);
    const producer = await tokens.create({ kind: "producer", name: "p", actor: "grace", tenant });
    const everywhere = await tokens.create({
      kind: "person",
      name: "owner",
      actor: "grace",
      roles: ["manager"],
    });

    for (const { secret } of [producer, everywhere]) {
      expect((await world.ask("/dlq/", {}, secret)).status).toBe(401);
    }
  });

  test("refuses other methods", async () => {
    await using world = await World.open();

    expect((await world.post("/dlq/", {})).status).toBe(405);
    expect((await world.get("/dlq/1/reprocess/")).status).toBe(405);
  });
});
