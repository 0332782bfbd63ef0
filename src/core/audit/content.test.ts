import { describe, expect, test } from "vitest";
import { AUDIT_BYTES_MAX, AUDIT_REASON_MAX, auditContent, auditReason } from "./content.ts";

describe("auditContent", () => {
  test("is the JSON of a small state", () => {
    expect(auditContent(null)).toBeNull();
    expect(auditContent({ state: "queued", until: undefined })).toBe('{"state":"queued"}');
  });

  test.each(["a", "ü", "→", "𝄞"])("has at most 4 KB in UTF-8: %s", (letter) => {
    const state = (count: number): { a: string } => ({ a: letter.repeat(count) });
    const fits = Math.floor((AUDIT_BYTES_MAX - '{"a":""}'.length) / Buffer.byteLength(letter));

    expect(auditContent(state(fits))).toBe(JSON.stringify(state(fits)));
    const cut = auditContent(state(fits + 1));
    expect(JSON.parse(cut ?? "")).toEqual({
      cut: true,
      bytes: Buffer.byteLength(JSON.stringify(state(fits + 1))),
    });
  });
});

describe("auditReason", () => {
  test("keeps a reason, and leaves an empty one out", () => {
    expect(auditReason("slow")).toBe("slow");
    expect(auditReason("")).toBeNull();
    expect(auditReason(null)).toBeNull();
  });

  test("has at most 2,000 characters that both databases store", () => {
    expect(auditReason("x".repeat(AUDIT_REASON_MAX))).toHaveLength(AUDIT_REASON_MAX);
    const long = auditReason("𝄞".repeat(AUDIT_REASON_MAX));
    expect(long).toHaveLength(AUDIT_REASON_MAX);
    expect(long?.isWellFormed()).toBe(true);
    expect(long?.endsWith("…")).toBe(true);
    expect(auditReason("a\0b\ud800")).toBe("ab\ufffd");
  });
});
