import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Dice } from "./clock.ts";
import {
  idBytes,
  idFromBytes,
  idHex,
  idSource,
  idsWithPrefix,
  idTime,
  idUuid,
  newId,
  parseId,
} from "./ids.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const nowMs = Date.UTC(2026, 10, 15, 12);
const sixteenBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** Dice that show one number for ever, unless another is given for each roll. */
function dice(roll: (i: number) => number = () => 0): Dice {
  return {
    random: () => 0,
    bytes: (count) => Uint8Array.from({ length: count }, (_, i) => roll(i)),
  };
}

/** What the letters mean, worked out in the slow and obvious way. */
function slowly(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let letters = "";
  for (let i = 0; i < 26; i += 1) {
    letters = ALPHABET.charAt(Number(value % 32n)) + letters;
    value /= 32n;
  }
  return letters;
}

describe("an id", () => {
  test("is a UUIDv7 that tells its time", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 48 - 1), fc.nat(255), (ms, byte) => {
        const id = newId(
          ms,
          dice(() => byte),
        );

        expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        expect(idUuid(id)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        expect(idTime(id)).toBe(ms);
      }),
    );
  });

  test("carries every bit of chance", () => {
    const id = newId(
      nowMs,
      dice((i) => [0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7].at(i)!),
    );

    expect(idUuid(id).slice(14)).toBe("7fff-bf01-020304050607");
  });

  test("stands for the same 128 bits in letters, bytes and UUID (000-07, C-27)", () => {
    fc.assert(
      fc.property(sixteenBytes, (bytes) => {
        const id = idFromBytes(bytes);

        expect(id).toBe(slowly(bytes));
        expect(idBytes(id)).toEqual(bytes);
        expect(idUuid(id).replaceAll("-", "")).toBe(Buffer.from(bytes).toString("hex"));
      }),
    );
  });

  test("sorts as text in the order of its bytes", () => {
    fc.assert(
      fc.property(sixteenBytes, sixteenBytes, (left, right) => {
        const [a, b] = [idFromBytes(left), idFromBytes(right)];
        expect(Math.sign(Buffer.compare(left, right))).toBe(a < b ? -1 : Number(a > b));
      }),
    );
  });
});

describe("parseId", () => {
  const id = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

  test.each([
    id,
    id.toLowerCase(),
    `job_${id}`,
    `job_${id.toLowerCase()}`,
    idUuid(id),
    idUuid(id).toUpperCase(),
    "oijcr5m4x2e8t9v6b3n7koqwaz",
    "0LJCR5M4X2E8T9V6B3N7KOQWAZ",
  ])("reads %s (000-07, C-27)", (text) => {
    expect(parseId(text)).toBe(id);
  });

  test.each([
    "",
    "job_",
    id.slice(1),
    `${id}0`,
    ` ${id}`,
    `${id}\n`,
    `jobs_${id}`,
    `job_job_${id}`,
    `8${id.slice(1)}`,
    `U${id.slice(1)}`,
    `${id.slice(0, 25)}U`,
    `${id.slice(0, 25)}ı`,
    `${id.slice(0, 25)}-`,
    idUuid(id).replaceAll("-", ""),
    `{${idUuid(id)}}`,
    `${idUuid(id).slice(0, 35)}g`,
  ])("answers null to %j", (text) => {
    expect(parseId(text)).toBeNull();
  });

  test("reads what was written, in every spelling", () => {
    fc.assert(
      fc.property(sixteenBytes, (bytes) => {
        const written = idFromBytes(bytes);

        expect(parseId(written)).toBe(written);
        expect(parseId(written.toLowerCase())).toBe(written);
        expect(parseId(idUuid(written))).toBe(written);
      }),
    );
  });
});

describe("an id source", () => {
  test("grows strictly, whatever the clock and the dice do", () => {
    const clocks = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(clocks, fc.func(fc.nat(255)), (steps, roll) => {
        let ms = nowMs;
        const next = idSource({ now: () => ms }, dice(roll));

        const ids = steps.map((step) => {
          ms += step;
          return next();
        });

        expect(ids).toEqual([...new Set(ids)].toSorted());
      }),
    );
  });

  test("runs ahead of the clock when a millisecond is full", () => {
    const next = idSource({ now: () => nowMs }, dice());

    const ids = Array.from({ length: 3 * 4096 }, () => next());

    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(idTime(ids[0]!)).toBe(nowMs);
    expect(idTime(ids.at(-1)!)).toBe(nowMs + 2);
  });

  test("keeps its time when the clock steps back, and follows it again later", () => {
    let ms = nowMs;
    const next = idSource({ now: () => ms }, dice());

    const times = [0, -5_000, -4_999, 1].map((step) => {
      ms = nowMs + step;
      return idTime(next());
    });

    expect(times).toEqual([nowMs, nowMs, nowMs, nowMs + 1]);
  });

  test("keeps order inside a millisecond when the clock shows fractions", () => {
    let ms = nowMs;
    const next = idSource(
      { now: () => (ms += 0.001) },
      dice((i) => (i * 37) % 256),
    );

    const ids = Array.from({ length: 500 }, () => next());

    expect(ids).toEqual([...new Set(ids)].toSorted());
  });

  test("starts each millisecond at a random place with room above it", () => {
    let ms = nowMs;
    const next = idSource(
      { now: () => (ms += 1) },
      dice(() => 0xff),
    );

    expect(idUuid(next()).slice(14, 18)).toBe("77ff");
  });

  test("gives every id its own chance, also beyond one draw of the dice", () => {
    let drawn = 0;
    const counted: Dice = {
      random: () => 0,
      bytes: (count) => {
        drawn += 1;
        return Uint8Array.from({ length: count }, (_, i) => (i % 10 === 9 ? (i - 9) / 10 : drawn));
      },
    };
    const next = idSource({ now: () => nowMs }, counted);

    const tails = Array.from({ length: 200 }, () => idUuid(next()).slice(19));

    expect(new Set(tails).size).toBe(200);
    expect(drawn).toBe(2);
  });
});

describe("the ids with a prefix", () => {
  const id = "01KE6Z4XP07V1H8R2N5QWT9AC8";

  test("lie between the prefix with the first and with the last letters", () => {
    expect(idsWithPrefix("01KE6")).toEqual({
      from: "01KE6000000000000000000000",
      to: "01KE6ZZZZZZZZZZZZZZZZZZZZZ",
    });
    expect(idsWithPrefix(id)).toEqual({ from: id, to: id });
  });

  test("are the same for letters in lower case, confusable letters and job_", () => {
    expect(idsWithPrefix("job_olke6")).toEqual(idsWithPrefix("01KE6"));
  });

  test.each(["", "01K", "8KE6", "01KU", "01K-6", `${id}0`, "email"])(
    "do not exist for %j",
    (text) => {
      expect(idsWithPrefix(text)).toBeNull();
    },
  );

  test("include the whole id, by the order of the stored bytes", () => {
    const range = idsWithPrefix(id.slice(0, 7));
    const [from, at, to] = [range?.from ?? "", id, range?.to ?? ""].map((each) => idHex(each));
    expect(from! <= at! && at! <= to!).toBe(true);
  });
});
