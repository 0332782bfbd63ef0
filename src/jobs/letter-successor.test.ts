import { expect, test } from "vitest";
import { retryKey } from "./letter-successor.ts";

const ID = "01JD0Z6Y7Q8R9S0TAVBWCXDYEZ";
const KEY_LENGTH_MAX = 500;

test("the key of a successor has the time of the retry behind the old key (003-26)", () => {
  expect(retryKey("order-17", ID, 1_735_557_600_123)).toBe("order-17_retry_1735557600.123");
  expect(retryKey("order-17", ID, 1_735_557_600_000)).toBe("order-17_retry_1735557600.000");
});

test("a key that would be too long is cut and made unique by the id", () => {
  const key = retryKey("k".repeat(KEY_LENGTH_MAX), ID, 1_735_557_600_123);

  expect(key).toHaveLength(KEY_LENGTH_MAX);
  expect(key).toMatch(new RegExp(`^k+_${ID}_retry_1735557600\\.123$`));
});
