import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";

describe("/api/v1/intakes", () => {
  test.each([
    ["lane", "general"],
    ["type", "email"],
    ["tenant", "default"],
    ["installation", "all"],
  ])("closes and opens the intake of the %s %s (004-52)", async (kind, name) => {
    await using server = await openServer();
    const path = `/api/v1/intakes/${kind}/${name}`;
    const enqueue = { json: { type: "email" } };

    const closed = await server.ask(path, { method: "PUT", json: { reason: "a deploy" } });
    const listed = await jsonOf(await server.ask("/api/v1/intakes"));
    const refused = await server.ask("/api/v1/jobs", enqueue);
    const opened = await server.ask(path, { method: "DELETE" });
    const accepted = await server.ask("/api/v1/jobs", enqueue);

    expect(closed.status).toBe(204);
    expect(listed).toMatchObject({
      intakes: [{ kind, name, reason: "a deploy", closedBy: "owner" }],
    });
    expect(refused.status).toBe(503);
    expect(server.failures).toEqual([]);
    expect(refused.headers.get("retry-after")).toBe("60");
    const subject = kind === "installation" ? "all jobs" : `the ${kind} "${name}"`;
    expect(await refused.json()).toMatchObject({
      code: "INTAKE_CLOSED",
      detail:
        'a job of type "email" is refused: ' +
        `the intake of ${subject} is closed by owner: a deploy`,
    });
    expect(await opened.json()).toEqual({ wasClosed: true });
    expect(accepted.status).toBe(201);
  });

  test("refuses the jobs of a batch one by one", async () => {
    await using server = await openServer();
    await server.mill.intake.close({ type: "email" }, "a deploy");

    const response = await server.ask("/api/v1/jobs/batch", {
      json: { jobs: [{ type: "report" }, { type: "email" }, { type: "report" }] },
    });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      jobs: [{ created: true }, { problem: { code: "INTAKE_CLOSED" } }, { created: true }],
      created: 2,
      refused: 1,
    });
  });

  test.each(["lane/general", "type/email", "tenant/globex", "installation/all"])(
    "keeps an operator of one tenant from closing %s",
    async (target) => {
      await using server = await openServer();
      const { secret } = await server.mill.tokens.create({
        kind: "person",
        name: "ada",
        roles: ["operator"],
        tenant: "acme",
      });
      const as = { as: "anonymous", headers: { authorization: `Bearer ${secret}` } } as const;
      const path = `/api/v1/intakes/${target}`;

      const closed = await server.ask(path, { ...as, method: "PUT", json: { reason: "x" } });
      const opened = await server.ask(path, { ...as, method: "DELETE" });
      const own = await server.ask("/api/v1/intakes/tenant/acme", {
        ...as,
        method: "PUT",
        json: { reason: "x" },
      });

      expect([closed.status, opened.status, own.status]).toEqual([403, 403, 204]);
      expect(await server.mill.intake.list()).toMatchObject([{ kind: "tenant", name: "acme" }]);
    },
  );

  test("refuses the installation under another name", async () => {
    await using server = await openServer();
    const response = await server.ask("/api/v1/intakes/installation/some", {
      method: "PUT",
      json: { reason: "x" },
    });
    expect(response.status).toBe(400);
  });
});
