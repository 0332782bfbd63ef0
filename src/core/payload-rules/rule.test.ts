import { describe, expect, test } from "vitest";
import { addedUp } from "./rule.ts";

describe("rules that add up", () => {
  test("hold all together: the narrower one cannot loosen the wider one", () => {
    const wide = {
      required: { tenant_id: "integer" },
      softBytes: 10,
      hardBytes: 100,
      forbidden: ["body"],
      sensitive: { tokens: "reject", cards: "warn" },
    } as const;
    const narrow = {
      required: { tenant_id: "any", document_id: "uuid" },
      softBytes: 5,
      hardBytes: 900,
      forbidden: ["body", "html"],
      sensitive: { tokens: "warn", cards: "redact", keys: "warn" },
      strict: true,
    } as const;

    expect(addedUp([wide, narrow])).toEqual({
      required: [
        { path: "tenant_id", kind: "integer" },
        { path: "tenant_id", kind: "any" },
        { path: "document_id", kind: "uuid" },
      ],
      softBytes: 5,
      hardBytes: 100,
      forbidden: ["body", "html"],
      sensitive: { tokens: "reject", cards: "redact", keys: "warn" },
      strict: true,
    });
  });

  test("are none without rules, and check nothing that no rule names", () => {
    expect(addedUp([])).toBeNull();
    expect(addedUp([{}])).toEqual({
      required: [],
      softBytes: null,
      hardBytes: null,
      forbidden: [],
      sensitive: {},
      strict: false,
    });
  });
});
