import { describe, expect, test } from "vitest";
import { isHiddenPath, redacted, redactedChanges, redactionRules } from "./redaction.ts";

const RULES = redactionRules(["card.number", "PIN"]);

describe("redacted", () => {
  test("hides secrets at any depth, and paths that the rules name", () => {
    const value = {
      Password: "x",
      card: { number: 4711, name: "Ada" },
      number: 1,
      list: [{ pin: 1, keep: null }],
    };
    expect(redacted(value, RULES)).toEqual({
      Password: "[redacted]",
      card: { number: "[redacted]", name: "Ada" },
      number: 1,
      list: [{ pin: "[redacted]", keep: null }],
    });
  });

  test("hides what is too deep as a whole", () => {
    let value: unknown = "deep";
    for (let depth = 0; depth < 200; depth += 1) value = { a: value };
    expect(JSON.stringify(redacted(value, RULES))).toContain("[redacted]");
  });
});

describe("isHiddenPath", () => {
  test.each<[string, boolean]>([
    ["user.id", false],
    ["number", false],
    ["card.name", false],
    ["my.card.number", false],
    ["card.number.more", true],
    ["Card.Number", true],
    ["card.3.number", true],
    ["0.card.12.number", true],
    ["list.0.pin", true],
    ["password", true],
    ["a.secret.b", true],
    ["box.7.key", true],
    ["box.8.key", false],
  ])("%s: %s", (path, isHidden) => {
    expect(isHiddenPath(path, redactionRules(["card.number", "PIN", "box.7.key"]))).toBe(isHidden);
  });
});

describe("redactedChanges", () => {
  test("keeps the paths, and hides the values of secrets", () => {
    const changes = [
      { path: "$.token", before: "a", after: "b" },
      { path: "$.users[0].card.number", after: 4712 },
      { path: "$.card", before: { number: 4711, name: "Ada" } },
      { path: "$.items[12].price", before: 1, after: 2 },
      { path: "$", after: { secret: "x" } },
    ];
    expect(redactedChanges(changes, redactionRules(["users.card.number", "card.number"]))).toEqual([
      { path: "$.token", before: "[redacted]", after: "[redacted]" },
      { path: "$.users[0].card.number", after: "[redacted]" },
      { path: "$.card", before: { number: "[redacted]", name: "Ada" } },
      { path: "$.items[12].price", before: 1, after: 2 },
      { path: "$", after: { secret: "[redacted]" } },
    ]);
  });
});
