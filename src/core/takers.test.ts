import { describe, expect, test } from "vitest";
import { notTaken, type Taker } from "./takers.ts";

const JOB = { type: "email", lane: "fast", tenant: "acme" };
const ANY: Taker = { types: ["email", "sms"], lanes: ["general"], tenant: null };

describe("a job is taken", () => {
  test.each<[string, Taker]>([
    ["a worker of all lanes and tenants", ANY],
    ["a worker with slots of its lane", { ...ANY, lanes: ["slow", "fast"] }],
    ["a worker of its tenant", { ...ANY, tenant: "acme" }],
  ])("by %s", (_, worker) => {
    expect(notTaken(JOB, [{ ...ANY, types: [] }, worker])).toBeNull();
  });
});

describe("a job is not taken", () => {
  test.each<[string, Taker[]]>([
    ["type", []],
    ["type", [{ ...ANY, types: ["sms"] }]],
    ["lane", [{ ...ANY, lanes: ["slow"] }]],
    ["tenant", [{ ...ANY, tenant: "globex" }]],
    // The worker that has the lane does not have the type.
    [
      "lane",
      [
        { ...ANY, types: ["sms"] },
        { ...ANY, lanes: ["slow"] },
      ],
    ],
  ])("because of its %s", (why, workers) => {
    expect(notTaken(JOB, workers)).toBe(why);
  });
});
