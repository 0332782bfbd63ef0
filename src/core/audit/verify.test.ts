import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHAIN_START, sealHash, sealsOf, type ChainedEntry } from "./chain.ts";
import { ChainCheck, isLate, LATE_MS_MAX, type SealedRow } from "./verify.ts";

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const DAY_MS = 86_400_000;

function rowsOf(tenant: string | null, days: readonly number[], firstId = 1): SealedRow[] {
  const entries: ChainedEntry[] = days.map((day, index) => ({
    id: firstId + index,
    at: day * DAY_MS,
    tenant,
    name: "lane_paused",
    actor: null,
    reason: `turn ${index}`,
    subjectKind: "lane",
    subject: "fast",
    before: null,
    after: null,
  }));
  return sealsOf(CHAIN_START, entries, 5, digest).map((seal, index) => {
    return { ...seal, entry: entries[index] ?? null, start: null };
  });
}

function kindsOf(rows: readonly SealedRow[], check: ChainCheck = new ChainCheck(digest)): string[] {
  return rows.flatMap((row) => check.add(row)?.kind ?? []);
}

describe("ChainCheck", () => {
  test("finds nothing in chains that were not changed", () => {
    const check = new ChainCheck(digest);
    const rows = [...rowsOf(null, [1, 1, 3]), ...rowsOf("a", [2, 2], 10)];

    expect(kindsOf(rows, check)).toEqual([]);
    expect(check.count).toBe(5);
    expect(check.heads()).toMatchObject([
      { tenant: null, day: 3, position: 1 },
      { tenant: "a", day: 2, position: 2 },
    ]);
    expect(check.heads()).toHaveLength(2);
    expect(new ChainCheck(digest).heads()).toEqual([]);
  });

  test("finds every removed row but the last of a chain", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 2, maxLength: 9 }), fc.nat(), (days, pick) => {
        const rows = rowsOf(
          "a",
          days.toSorted((one, other) => one - other),
        );
        const at = pick % (rows.length - 1);
        expect(kindsOf(rows.toSpliced(at, 1))).toEqual(["seals_removed"]);
      }),
    );
  });

  test("finds removed entries, also the last one", () => {
    const rows = rowsOf("a", [1, 1, 2]);
    for (const at of [0, 1, 2]) {
      const without = rows.with(at, { ...rows[at]!, entry: null });
      expect(kindsOf(without)).toEqual(["entry_removed"]);
    }
  });

  test("finds any changed value of an entry or a seal", () => {
    const rows = rowsOf("a", [1, 1, 2]);
    const fields = [
      "tenant",
      "day",
      "position",
      "auditId",
      "previous",
      "hash",
      "sealedAt",
    ] as const;
    fc.assert(
      fc.property(fc.nat(2), fc.constantFrom(...fields), (at, field) => {
        const row = rows[at]!;
        const changed = typeof row[field] === "number" ? 77 : "x";
        const found = kindsOf(rows.with(at, { ...row, [field]: changed }));
        expect(found).toContain("altered");
      }),
    );
    const [row] = rows;
    const entry = { ...row!.entry!, reason: "other" };
    expect(kindsOf([{ ...row!, entry }])).toEqual(["altered"]);
  });

  test("finds swapped entries", () => {
    const [one, two] = rowsOf("a", [1, 1]);
    const swapped = [
      { ...one!, entry: two!.entry },
      { ...two!, entry: one!.entry },
    ];
    expect(kindsOf(swapped)).toEqual(["altered", "altered"]);
  });

  test("finds a seal at a place that does not follow, though its hash fits", () => {
    const [row] = rowsOf("a", [1]);
    const place = { ...row!, day: 1, position: 2 };
    const hash = sealHash(place, row!.entry!, digest);
    expect(kindsOf([{ ...place, hash }])).toEqual(["altered"]);
  });

  test("begins where retention has cut a chain, also while it is read", () => {
    const rows = rowsOf("a", [1, 1, 2, 2]);
    const [first, second, third, fourth] = rows;
    const start = { day: 1, position: 2, hash: second!.hash };
    const cut = [third!, fourth!].map((row) => ({ ...row, start }));

    expect(kindsOf(cut)).toEqual([]);
    expect(kindsOf([first!, ...cut])).toEqual([]);
    expect(kindsOf([fourth!].map((row) => ({ ...row, start })))).toEqual(["seals_removed"]);
    const moved = { ...start, hash: "f".repeat(64) };
    expect(kindsOf([{ ...third!, start: moved }])).toEqual(["seals_removed"]);
  });

  test("goes on where it is when retention cuts the chain behind it", () => {
    const [first, second, third, fourth] = rowsOf("a", [1, 1, 2, 2]);
    const start = { day: 1, position: 2, hash: second!.hash };

    expect(kindsOf([first!, second!, third!, { ...fourth!, start }])).toEqual([]);
    expect(kindsOf([first!, second!, { ...third!, start }, { ...fourth!, start }])).toEqual([]);
    expect(kindsOf([first!, second!, { ...fourth!, start }])).toEqual(["seals_removed"]);
  });

  test("does not miss heads of a chain that retention has emptied", () => {
    const rows = rowsOf("a", [1, 1, 2]);
    const [first, second, third] = rows.map(({ day, position, hash }) => {
      return { tenant: "a", day, position, hash };
    });
    const check = new ChainCheck(digest, [first!, second!, third!]);
    expect(check.tenantsOfMissingHeads()).toEqual(["a"]);
    expect(check.missingHeads([second!])).toMatchObject([{ kind: "head_removed", day: 2 }]);

    const other = new ChainCheck(digest, [{ ...third!, hash: "x" }]);
    expect(other.missingHeads([third!])).toMatchObject([{ kind: "altered", day: 2 }]);
    expect(other.missingHeads()).toEqual([]);
  });

  test("misses heads of an earlier check, unless retention has removed them", () => {
    const rows = rowsOf("a", [1, 1, 2]);
    const [first, second, third] = rows;
    const head = { tenant: "a", day: 2, position: 1, hash: third!.hash };
    const old = { tenant: "a", day: 1, position: 1, hash: first!.hash };

    const all = new ChainCheck(digest, [head, old]);
    expect(kindsOf(rows, all)).toEqual([]);
    expect(all.missingHeads()).toEqual([]);

    const short = new ChainCheck(digest, [head]);
    expect(kindsOf(rows.slice(0, 2), short)).toEqual([]);
    expect(short.missingHeads()).toMatchObject([{ kind: "head_removed", tenant: "a", day: 2 }]);

    const other = new ChainCheck(digest, [{ ...head, hash: "x" }]);
    expect(kindsOf(rows, other)).toEqual(["altered"]);

    const start = { day: 1, position: 2, hash: second!.hash };
    const cut = new ChainCheck(digest, [old, { ...old, position: 3 }, { ...old, tenant: "b" }]);
    expect(kindsOf([{ ...third!, start }], cut)).toEqual([]);
    expect(cut.missingHeads()).toMatchObject([{ position: 3 }, { tenant: "b" }]);
  });
});

describe("isLate", () => {
  test("compares ids where ids have the order of commits, else times", () => {
    expect(isLate({ id: 4, at: 0 }, { id: 5, at: null })).toBe(true);
    expect(isLate({ id: 6, at: 0 }, { id: 5, at: null })).toBe(false);
    expect(isLate({ id: 1, at: 0 }, { id: null, at: LATE_MS_MAX })).toBe(false);
    expect(isLate({ id: 1, at: 0 }, { id: null, at: LATE_MS_MAX + 1 })).toBe(true);
    expect(isLate({ id: 1, at: 0 }, { id: null, at: null })).toBe(false);
  });
});
