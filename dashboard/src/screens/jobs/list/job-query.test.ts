import { describe, expect, test } from "vitest";
import { createdBetween } from "../../overview/series.ts";
import { jobQueryOf } from "./job-query.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");

describe("a query of jobs", () => {
  test("becomes the query of the API", () => {
    const text =
      "type:email state:failed state:cancelled tenant:acme lane:fast category:mail " +
      'error:"time out" ' +
      "payload.user.id=42 tag.area:north correlation:c1 parent:p1 age<1h age>10m running>30m";
    const { query, wrong, isSearch } = jobQueryOf(text, NOW);
    expect(wrong).toEqual([]);
    expect(query).toEqual({
      type: "email",
      state: ["failed", "cancelled"],
      tenant: "acme",
      lane: "fast",
      category: "mail",
      error: "time out",
      payload: ["user.id:42"],
      tag: ["area:north"],
      correlation_id: "c1",
      parent_id: "p1",
      created_after: "1h",
      created_before: "10m",
      running_longer_than: "30m",
    });
    expect(isSearch).toBe(true);
  });

  test("becomes the filter of an operation, with moments", () => {
    const { bulk } = jobQueryOf("type:email age<1h payload.a.b=x tag.k:v correlation:c", NOW);
    expect(bulk).toEqual({
      type: "email",
      createdAfter: "2026-11-18T11:00:00.000Z",
      payload: { "a.b": "x" },
      tags: { k: "v" },
      correlationId: "c",
    });
  });

  test("takes the stretch of a chart that a person has chosen", () => {
    const [from, to] = [NOW - 120_000, NOW - 60_000];

    const { query, bulk, wrong } = jobQueryOf(createdBetween(from, to), NOW);

    expect(wrong).toEqual([]);
    expect(query).toEqual({
      created_after: "2026-11-18T11:58:00.000Z",
      created_before: "2026-11-18T11:59:00.000Z",
    });
    expect(bulk).toEqual({
      createdAfter: "2026-11-18T11:58:00.000Z",
      createdBefore: "2026-11-18T11:59:00.000Z",
    });
  });

  test("takes moments in any zone, and lengths of time before now", () => {
    const { query, bulk } = jobQueryOf("created>2h created<2026-11-18T13:00+02:00", NOW);

    expect(query).toEqual({ created_after: "2h", created_before: "2026-11-18T11:00:00.000Z" });
    expect(bulk).toEqual({
      createdAfter: "2026-11-18T10:00:00.000Z",
      createdBefore: "2026-11-18T11:00:00.000Z",
    });
  });

  test.each(["2026-02-30T12:00Z", "2026-02-31T00:00Z", "2026-13-01T00:00Z"])(
    "refuses %s, a day that does not exist",
    (moment) => {
      expect(jobQueryOf(`created>${moment}`, NOW).wrong).toHaveLength(1);
    },
  );

  test("takes words as a text in the payload", () => {
    expect(jobQueryOf('"ada@example.com" invoice', NOW).query).toEqual({
      text: "ada@example.com invoice",
    });
  });

  test("keeps retrying jobs among the waiting ones, and refuses an operation on them", () => {
    const { query, keep, bulk } = jobQueryOf("state:retrying", NOW);
    expect(query).toEqual({ state: ["pending"] });
    expect(bulk).toBeNull();
    const job = (state: string, attempts: number): any => ({ state, attempts });
    expect(keep?.(job("scheduled", 1))).toBe(true);
    expect(keep?.(job("queued", 0))).toBe(false);
    expect(keep?.(job("running", 1))).toBe(false);
    const both = jobQueryOf("state:retrying,failed", NOW);
    expect(both.query.state).toEqual(["failed", "pending"]);
    expect(both.keep?.(job("failed", 3))).toBe(true);
  });

  test.each([
    ["state:fialed", "state:failed"],
    ["state:fail", "state:failed"],
    ["state:held", "state:queued"],
    ["tpye:email", "type"],
    ["age:1h", "age<1h"],
    ["age<soon", "30m"],
    ["created:1h", "created>1h"],
    ["created>2026-11-18", "with its offset"],
    ["created>2026-13-18T12:00Z", "with its offset"],
    ["age<1h created>2h", "twice"],
    ["running<5m", "running>30m"],
    ["type<5", "type:5"],
    ["payload.a>5", "payload.a=5"],
    ["payload:x", "payload.name=value"],
    ["-state:completed", "turned round"],
    ["ab", "3 letters"],
    ["type:a type:b", "twice"],
    ["tag.a:1 tag.a:2", "one value"],
  ])("says what is wrong with %s", (text, advice) => {
    const { wrong, bulk } = jobQueryOf(text, NOW);
    expect(wrong).toHaveLength(1);
    expect(wrong[0]?.message).toContain(advice);
    expect(bulk).toBeNull();
  });
});
