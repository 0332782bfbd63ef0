import { expect, test } from "vitest";
import { safeLocale } from "./locale.ts";

test.each([
  ["de-AT", "de-AT"],
  ["en-US@posix", "en-US"],
  ["de_DE.UTF-8", "de-DE"],
  ["", "en"],
  ["C", "en"],
  [undefined, "en"],
])("the language %s is taken as %s", (name, locale) => {
  expect(safeLocale(name)).toBe(locale);
  expect(() => new Intl.NumberFormat(safeLocale(name))).not.toThrow();
});
