import { expect, test } from "vitest";
import { savedQuery, savedText } from "./saved-query.ts";

test("a view without columns is the text of the query bar", () => {
  expect(savedText({ q: "state:failed age>1d", cols: undefined })).toBe("state:failed age>1d");
});

test.each([
  { q: "state:failed age>1d", cols: undefined },
  { q: "", cols: "state,job" },
  { q: 'error:"a&b=c"', cols: "job,payload.user.id" },
  { q: "?cols=x", cols: undefined },
])("a view keeps %j", (query) => {
  expect(savedQuery(savedText(query))).toEqual(query);
});
