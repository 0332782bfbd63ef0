import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openFile } from "../../../test/conformance/transactions/callers.ts";
import { openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob, openMillrace, typed } from "../../index.ts";
import { makeSqliteStore } from "../../store/sqlite/create.ts";

const email = defineJob({ type: "email", payload: typed<{ n: number }>() });

const LEVELS = 50_000;
const OPENED = "[".repeat(LEVELS);
const DEEP = OPENED + "]".repeat(LEVELS);

describe("GET /api/v1/dead-letters/{id}/texts", () => {
  test.each([
    ["half a text", '{"n":', '{"n":'],
    ["an empty text", "", ""],
    ["half a text of many levels", OPENED, OPENED],
    ["a text of too many levels", DEEP, DEEP],
    ["a number in place of a text", 7, null],
    ["no payload", undefined, null],
  ])("shows %s to managers alone", async (_, damaged, stored) => {
    await using home = await openFile(makeSqliteStore);
    const mill = await openMillrace(`sqlite:${home.path}`);
    await using server = await openServer({ mill });
    const { id } = await mill.enqueue(email, { n: 1 });
    await mill.jobs.fail(id, "by hand");
    damageLetter(home.path, damaged);

    expect(await textsFor(server, id, "manager")).toEqual({ payload: stored });
    for (const role of ["viewer", "operator"] as const) {
      expect(await textsFor(server, id, role)).toEqual({ payload: null });
    }
    expect(server.failures).toEqual([]);
  });
});

/** Changes the payload in the copy of the failed job. `undefined` removes the payload. */
function damageLetter(path: string, payload: string | number | undefined): void {
  using database = new DatabaseSync(path, { timeout: 5_000 });
  const update = "UPDATE millrace_dead_letter SET spec =";
  if (payload === undefined) database.exec(`${update} json_remove(spec, '$.payload')`);
  else database.prepare(`${update} json_set(spec, '$.payload', ?)`).run(payload);
}

/** The texts of a dead letter, as this role reads them. */
async function textsFor(
  server: TestServer,
  id: string,
  role: "viewer" | "operator" | "manager",
): Promise<unknown> {
  const { secret } = await server.mill.tokens.create({ kind: "person", name: role, roles: [role] });
  const headers = { authorization: `Bearer ${secret}` };
  const question = { as: "anonymous", headers } as const;
  const response = await server.ask(`/api/v1/dead-letters/${id}/texts`, question);
  expect({ role, status: response.status }).toEqual({ role, status: 200 });
  return response.json();
}
