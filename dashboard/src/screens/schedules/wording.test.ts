import { expect, test } from "vitest";
import { knownZone, missedText, overlapText, runChips, sentenceOf, tickMark } from "./wording.ts";

const NOW = Date.parse("2026-11-17T14:32:00Z");
const texts = (moments: readonly string[], zone: string): readonly string[] =>
  runChips(moments.map(Date.parse), zone, NOW).map(({ text }) => text);

test("runs of today show the time alone", () => {
  expect(texts(["2026-11-17T14:45:00Z", "2026-11-17T15:00:00Z"], "UTC")).toEqual([
    "14:45",
    "15:00",
  ]);
});

test("seconds are shown when there are some", () => {
  expect(texts(["2026-11-17T14:45:20Z"], "UTC")).toEqual(["14:45:20"]);
});

test("a daily run shows its time once", () => {
  const days = ["2026-11-18T02:30:00Z", "2026-11-19T02:30:00Z", "2026-11-20T02:30:00Z"];
  expect(texts(days, "UTC")).toEqual(["Wed 02:30", "Thu", "Fri"]);
});

test("a run next month shows its date", () => {
  expect(texts(["2026-11-30T06:00:00Z", "2026-12-31T06:00:00Z"], "UTC")).toEqual([
    "30 Nov 06:00",
    "31 Dec",
  ]);
});

test("times are those of the zone", () => {
  expect(texts(["2026-11-18T01:30:00Z"], "Europe/Copenhagen")).toEqual(["Wed 02:30"]);
});

test("a run after the clocks change is marked", () => {
  const runs = ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z"].map(Date.parse);
  expect(runChips(runs, "Europe/Copenhagen", NOW).map(({ isShifted }) => isShifted)).toEqual([
    false,
    true,
  ]);
});

test("a zone that the browser does not know is shown as UTC", () => {
  expect(knownZone("Mars/Olympus")).toBe("UTC");
  expect(texts(["2026-11-17T14:45:00Z"], "Mars/Olympus")).toEqual(["14:45"]);
});

test("policies are words", () => {
  expect(missedText("skip")).toBe("skip missed");
  expect(missedText({ all: 5 })).toBe("up to 5 missed");
  expect(overlapText("replace")).toBe("replace the last");
});

test("each outcome of a tick has a shape and a word", () => {
  expect(tickMark("missed")).toEqual({
    state: "completed_with_errors",
    word: "Missed: no worker was up",
  });
  expect(tickMark("refused").state).toBe("failed");
});

test.each([
  ["every day at 02:30 Europe/Berlin", "Europe/Berlin", "Every day at 02:30"],
  ["every minute", "UTC", "Every minute"],
])("the sentence %j stands without its zone", (description, timeZone, text) => {
  expect(sentenceOf({ description, timeZone })).toBe(text);
});
