import { describe, expect, it, test } from "vitest";
import { auditFilter, nameWords, operationIn, subjectPath, verdictWords } from "./words.ts";

describe("nameWords", () => {
  it("writes names as people read them", () => {
    expect(nameWords("job_dlq_reprocess_requested")).toBe("Dead letter reprocess requested");
    expect(nameWords("lane_paused")).toBe("Lane paused");
  });
});

describe("subjectPath", () => {
  const path = (name: string, kind: string): readonly string[] | null =>
    subjectPath({ name, subject: { kind, name: "x/y" } });

  it("leads to the screen of the subject", () => {
    expect(path("job_cancel_requested", "job")).toEqual(["jobs", "x/y"]);
    expect(path("job_dlq_noted", "job")).toEqual(["letters", "x/y"]);
    expect(path("failure_group_snoozed", "cause")).toEqual(["failures", "x/y"]);
  });

  it("knows that some subjects have no screen", () => {
    expect(path("installation_paused", "installation")).toBeNull();
  });
});

describe("auditFilter", () => {
  it("takes what the API knows", () => {
    const query = {
      actor: "ines",
      name: "lane_paused",
      subject_kind: "moon",
      from: "2h",
      page: "3",
    };
    expect(auditFilter(query, ["lane_paused"], ["lane"])).toEqual({
      actor: "ines",
      name: "lane_paused",
      from: "2h",
    });
  });
});

describe("verdictWords", () => {
  const verdict = { isIntact: true, findings: [], more: 0, sealed: 12, unsealed: 3, heads: [] };

  it("says that nothing was changed", () => {
    expect(verdictWords(verdict)).toBe(
      "12 sealed entries were checked: none is changed or missing. 3 entries are not sealed yet.",
    );
  });

  it("counts what was changed", () => {
    const finding = {
      kind: "changed",
      tenant: null,
      day: null,
      position: 1,
      entryId: 1,
      message: "x",
    };
    const broken = { ...verdict, isIntact: false, findings: [finding], unsealed: 0 };
    expect(verdictWords(broken)).toBe("1 place of the trail was changed after it was sealed.");
    expect(verdictWords({ ...broken, more: 1_000 })).toBe(
      "1,001 places of the trail were changed after it was sealed.",
    );
  });
});

test.each([
  [
    "operation 01M7R34VHVEXKSBHZ4BY61F7Y2 of the installation: a: b",
    "01M7R34VHVEXKSBHZ4BY61F7Y2",
    "a: b",
  ],
  ["operation 01M7R34VHVEXKSBHZ4BY61F7Y2: why", "01M7R34VHVEXKSBHZ4BY61F7Y2", "why"],
  ["operation of the heart: why", null, "operation of the heart: why"],
])("the reason %j names its operation", (reason, operation, rest) => {
  expect(operationIn(reason)).toEqual({ operation, rest });
});
