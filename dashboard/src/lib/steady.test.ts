import { describe, expect, it } from "vitest";
import { inPlace, settled } from "./steady.ts";

type Row = readonly [id: number, text: string];
const keyOf = ([id]: Row): string => String(id);

describe("settled", () => {
  it("keeps the order and takes the new content", () => {
    const shown: Row[] = [
      [3, "c"],
      [2, "b"],
    ];
    const fresh: Row[] = [
      [2, "B"],
      [3, "c"],
    ];
    expect(settled(shown, fresh, keyOf)).toEqual({
      rows: [
        [3, "c"],
        [2, "B"],
      ],
      added: 0,
    });
  });

  it("counts new rows and does not show them", () => {
    const { rows, added } = settled(
      [[2, "b"]],
      [
        [4, "d"],
        [3, "c"],
        [2, "b"],
      ],
      keyOf,
    );
    expect(rows).toEqual([[2, "b"]]);
    expect(added).toBe(2);
  });

  it("drops rows that are gone", () => {
    expect(
      settled(
        [
          [3, "c"],
          [2, "b"],
        ],
        [[2, "b"]],
        keyOf,
      ).rows,
    ).toEqual([[2, "b"]]);
  });

  it("keeps rows that new ones have pushed off the page", () => {
    const fresh: Row[] = [
      [4, "d"],
      [3, "c"],
    ];
    const isOlder = ([id]: Row, [last]: Row): boolean => id < last;
    const { rows, added } = settled(
      [
        [3, "c"],
        [2, "b"],
      ],
      fresh,
      keyOf,
      isOlder,
    );
    expect(rows).toEqual([
      [3, "c"],
      [2, "b"],
    ]);
    expect(added).toBe(1);
  });
});

describe("a list under the pointer", () => {
  const row = (id: string, count: number) => ({ id, count });

  it("keeps places, takes fresh content, and puts new rows behind", () => {
    const shown = [row("a", 1), row("b", 1), row("c", 1)];
    const fresh = [row("c", 9), row("d", 5), row("a", 2)];

    expect(inPlace(shown, fresh, ({ id }) => id)).toEqual([
      row("a", 2),
      row("b", 1),
      row("c", 9),
      row("d", 5),
    ]);
  });
});
