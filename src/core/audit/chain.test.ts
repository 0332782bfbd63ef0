import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHAIN_START, encoded, placeAfter, sealHash, sealsOf, type ChainedEntry } from "./chain.ts";

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const DAY_MS = 86_400_000;

function entry(overrides: Partial<ChainedEntry> = {}): ChainedEntry {
  return {
    id: 1,
    at: 10 * DAY_MS,
    tenant: "acme",
    name: "lane_paused",
    actor: "ada",
    reason: "slow",
    subjectKind: "lane",
    subject: "fast",
    before: null,
    after: '{"paused":true}',
    ...overrides,
  };
}

const text = fc.option(fc.string({ unit: "binary", maxLength: 8 }).filter((t) => t.isWellFormed()));
const value = fc.oneof(text, fc.maxSafeInteger());

describe("encoded", () => {
  test("two lists never have one text", () => {
    fc.assert(
      fc.property(fc.array(value), fc.array(value), (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(encoded(one) === encoded(other)).toBe(isSame);
      }),
    );
  });

  test("a text never has the form of another value, or of two", () => {
    expect(encoded(["a", "b"])).not.toBe(encoded(["a;s1:b"]));
    expect(encoded([1])).not.toBe(encoded(["1"]));
    expect(encoded([null])).not.toBe(encoded([""]));
    expect(encoded([1, 2])).not.toBe(encoded([12]));
  });
});

describe("sealHash", () => {
  const [seal] = sealsOf(CHAIN_START, [entry()], 5, digest);

  test("is a SHA-256 in hexadecimal digits", () => {
    expect(seal?.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    { id: 2 },
    { at: 10 * DAY_MS + 1 },
    { tenant: null },
    { name: "lane_resumed" },
    { actor: null },
    { reason: "" },
    { subjectKind: "type" },
    { subject: "fas" },
    { before: "{}" },
    { after: null },
  ])("changes with the entry: %o", (change) => {
    expect(sealHash(seal!, entry(change), digest)).not.toBe(seal?.hash);
  });

  test.each([
    { previous: "1".repeat(64) },
    { tenant: "b" },
    { day: 11 },
    { position: 2 },
    { auditId: 2 },
    { sealedAt: 6 },
  ])("changes with the seal: %o", (change) => {
    expect(sealHash({ ...seal!, ...change }, entry(), digest)).not.toBe(seal?.hash);
  });
});

describe("sealsOf", () => {
  test("links each seal to the one before, and each day begins with position 1", () => {
    const days = [10, 10, 11, 10];
    const entries = days.map((day, index) => entry({ id: index + 1, at: day * DAY_MS }));

    const seals = sealsOf(CHAIN_START, entries, 5, digest);

    expect(seals.map(({ day, position }) => [day, position])).toEqual([
      [10, 1],
      [10, 2],
      [11, 1],
      [11, 2],
    ]);
    expect(seals.map(({ previous }) => previous)).toEqual([
      CHAIN_START.hash,
      ...seals.slice(0, -1).map(({ hash }) => hash),
    ]);
  });

  test("several sweeps make the chain of one, apart from the time of the seals", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20 * DAY_MS), { maxLength: 9 }), fc.nat(9), (times, cut) => {
        const entries = times.map((at, index) => entry({ id: index + 1, at }));
        const all = sealsOf(CHAIN_START, entries, 5, digest);
        const first = sealsOf(CHAIN_START, entries.slice(0, cut), 5, digest);
        const rest = sealsOf(first.at(-1) ?? CHAIN_START, entries.slice(cut), 5, digest);
        expect([...first, ...rest]).toEqual(all);
      }),
    );
  });
});

describe("placeAfter", () => {
  test("a day before the epoch has a place as well", () => {
    expect(placeAfter({ day: -5, position: 1 }, { at: -1 })).toEqual({ day: -1, position: 1 });
  });
});
