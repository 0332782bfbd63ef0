import { expect, test } from "vitest";
import { savedQuery, savedText } from "./saved-query.ts";

test.each([
  [{ q: "state:failed age>1d", cols: undefined }, "state:failed age>1d"],
  [{ q: "", cols: "state,job" }, "?q=&cols=state%2Cjob"],
  [{ q: 'error:"a&b=c"', cols: "job,payload.user.id" }, null],
  [{ q: "?cols=x", cols: undefined }, null],
])("a view keeps %j", (query, text) => {
  if (text !== null) expect(savedText(query)).toBe(text);
  expect(savedQuery(savedText(query))).toEqual(query);
});
