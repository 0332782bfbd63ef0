import { expect, test } from "vitest";
import { inOrder, nextOrder, orderOf } from "./order.ts";

interface Row {
  readonly name: string;
  readonly run: number | null;
}

const rows: readonly Row[] = [
  { name: "idle", run: null },
  { name: "short", run: 5 },
  { name: "long", run: 90 },
  { name: "equal", run: 5 },
];
const columns = [
  { id: "name", rank: ({ name }: Row) => name },
  { id: "run", rank: ({ run }: Row) => run },
  { id: "mute" },
];

test.each([
  ["-run", ["long", "short", "equal", "idle"]],
  ["run", ["short", "equal", "long", "idle"]],
  ["-name", ["short", "long", "idle", "equal"]],
  ["mute", ["idle", "short", "long", "equal"]],
  ["unknown", ["idle", "short", "long", "equal"]],
  ["", ["idle", "short", "long", "equal"]],
])("the order %j is %j", (text, names) => {
  expect(inOrder(rows, columns, orderOf(text)).map(({ name }) => name)).toEqual(names);
});

test("the head of a column asks for the highest first, and then for the lowest", () => {
  expect(nextOrder(null, "run")).toBe("-run");
  expect(nextOrder(orderOf("-run"), "run")).toBe("run");
  expect(nextOrder(orderOf("-run"), "name")).toBe("-name");
});
