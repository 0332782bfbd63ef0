import { describe, expect, test } from "vitest";
import { compareVersions, currentPayload, isVersion, upcastProblem } from "./payload-version.ts";

const keep = (payload: unknown): unknown => payload;

describe("a version", () => {
  test.each(["1", "2", "1.0", "10.2.3", "1.2.3.4"])("is accepted: %s", (text) => {
    expect(isVersion(text)).toBe(true);
  });

  test.each(["", "v2", "1.", "1.2.3.4.5", 2, null, "1".repeat(41)])("is refused: %j", (text) => {
    expect(isVersion(text)).toBe(false);
  });

  test.each([
    ["1", "1.0", 0],
    ["2", "10", -1],
    ["1.10", "1.9", 1],
    ["1", "1.0.1", -1],
  ])("%s compares with %s by numbers", (one, other, sign) => {
    expect(Math.sign(compareVersions(one, other))).toBe(sign);
  });
});

describe("upcastProblem", () => {
  test.each([
    [{}, null],
    [{ payloadVersion: "2", upcast: { "1": keep } }, null],
    [{ upcast: { "1": keep } }, "needs payloadVersion, the version that it leads to"],
    [
      { payloadVersion: "2", upcast: { "2.0": keep } },
      "has version 2.0, which is not older than 2",
    ],
    [{ payloadVersion: "3", upcast: { "1": keep, "1.0": keep } }, "has version 1.0 twice"],
  ])("of %o", (code, problem) => {
    expect(upcastProblem(code)).toBe(problem);
  });
});

describe("currentPayload", () => {
  const code = {
    payloadVersion: "10",
    upcast: {
      "9": (list: string[]) => [...list, "9 to 10"],
      "1": (list: string[]) => [...list, "1 to 2"],
      "2": (list: string[]) => [...list, "2 to 9"],
    },
  };

  test("applies the steps from the version of the payload on, oldest first", () => {
    const read = (version: string | null) => currentPayload(code, { version, payload: [] });

    expect(read(null)).toEqual({ status: "current", payload: ["1 to 2", "2 to 9", "9 to 10"] });
    expect(read("2.0")).toEqual({ status: "current", payload: ["2 to 9", "9 to 10"] });
    expect(read("10")).toEqual({ status: "current", payload: [] });
  });

  test("does not guess at versions that it does not know", () => {
    expect(currentPayload(code, { version: "11", payload: [] })).toEqual({ status: "newer" });
    expect(currentPayload(code, { version: "3", payload: [] })).toEqual({ status: "unreadable" });
    expect(currentPayload(code, { version: "9.5", payload: 1 })).toEqual({ status: "unreadable" });
    expect(currentPayload({}, { version: null, payload: 1 }).status).toBe("current");
    expect(currentPayload({}, { version: "2", payload: 1 }).status).toBe("newer");
  });
});
