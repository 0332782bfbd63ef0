/**
 * The served OpenAPI document is the contract: every documented answer happens, and no other. The
 * requests are real, and the bodies of their answers are held against the documented schemas.
 */
import { describe, expect, test } from "vitest";
import { openServer } from "../support/http/http-server.ts";
import { Contract, openObjects, problemsOf } from "./contract/document.ts";
import { answerWith } from "./contract/requests.ts";
import { makeContractWorld } from "./contract/world.ts";

/** Objects with fields that the application chooses. */
const OPEN = [
  // The document itself.
  "/paths//openapi.json/get/responses/200/content/application/json/schema",
  // The fields of an event depend on its name.
  "/components/schemas/FeedMessage/properties/data",
];

describe("the OpenAPI document", () => {
  test("passes a public validator for 3.1", async () => {
    await using server = await openServer();
    const { document } = await Contract.of(server);

    expect(await problemsOf(document)).toEqual({ version: "3.1", valid: true, errors: [] });
  });

  test("is refused by the same validator when it is wrong", async () => {
    await using server = await openServer();
    const { document } = await Contract.of(server);
    const [first = ""] = Object.keys(document.paths);
    Object.assign(document.paths[first] ?? {}, { get: { responses: { nonsense: 7 } } });

    expect(await problemsOf(document)).toMatchObject({ valid: false });
  });

  test("names every field of every object", async () => {
    await using server = await openServer();
    const { document } = await Contract.of(server);

    expect(openObjects(document).toSorted()).toEqual(OPEN.toSorted());
  });

  test("names the path under which the API is mounted", async () => {
    await using server = await openServer({ base: "/tools/jobs" });

    const { document } = await Contract.of(server);

    expect(document).toMatchObject({ servers: [{ url: "/tools/jobs" }] });
  });
});

describe("the server", () => {
  test("gives every documented answer, and no other", async () => {
    await using world = await makeContractWorld();
    const contract = await Contract.of(world.server);
    // After these, no operation starts, logins are refused, and the worker takes no jobs or stops.
    const last = new Set([
      "startOperation 409",
      "openSession 429",
      "quietWorker 204",
      "resumeWorker 409",
      "stopWorker 204",
    ]);
    const cells = contract.operations
      .flatMap((operation) => operation.statuses.map((status) => ({ operation, status })))
      .toSorted((a, b) => rank(a) - rank(b));
    function rank({ operation, status }: (typeof cells)[number]): number {
      return last.has(`${operation.name} ${status}`) ? 1 : 0;
    }

    const wrong: string[] = [];
    for (const { operation, status } of cells) {
      const response = await answerWith(world, operation, status);
      if (response?.status !== status) {
        wrong.push(`${operation.name} ${status}: ${response?.status ?? "no request"}`);
      }
      if (response !== null) await contract.judge(operation, response);
    }

    expect(contract.findings).toEqual([]);
    expect(wrong).toEqual([]);
    expect(contract.seen.size).toBe(cells.length);
    expect(cells.length).toBeGreaterThan(400);
  });
});
