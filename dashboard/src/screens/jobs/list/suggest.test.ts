import { describe, expect, test } from "vitest";
import { suggestionsFor } from "./suggest.ts";

const KNOWN = { types: ["email", "report email", "image"], lanes: ["fast"], tenants: ["acme"] };
const texts = (draft: string) => suggestionsFor(draft, KNOWN).map(({ text }) => text);

describe("suggestions", () => {
  test("offer every key for an empty text", () => {
    expect(texts("")).toContain("state:");
    expect(texts("")).toContain("payload.");
  });

  test("offer keys that begin with the text first", () => {
    expect(texts("t").slice(0, 3)).toEqual(["type:", "tenant:", "tag."]);
    expect(texts("er")[0]).toBe("error:");
  });

  test("offer known values, quoted where they need it", () => {
    expect(texts("state:fa")).toEqual(["state:failed"]);
    expect(texts("type:email")).toEqual(["type:email", 'type:"report email"']);
    expect(texts("lane:")).toEqual(["lane:fast"]);
    expect(texts("tenant:AC")).toEqual(["tenant:acme"]);
    expect(texts("age<1")).toEqual(["age<15m", "age<1h"]);
  });

  test("tell ages from moments", () => {
    const hints = (draft: string) => suggestionsFor(draft, KNOWN).map(({ hint }) => hint);

    expect(texts("cre")).toEqual(["created>", "created<"]);
    expect(texts("created>1")).toEqual(["created>15m", "created>1h"]);
    expect([hints("age<1h"), hints("created>1h")].flat()).toEqual([
      "created since then",
      "created since then",
    ]);
    expect([hints("age>1h"), hints("created<1h")].flat()).toEqual([
      "created before then",
      "created before then",
    ]);
  });

  test("offer a job for an id", () => {
    const [found] = suggestionsFor("01k9zq4h7m3v8t2xe6rnq4c7xq", KNOWN);
    expect(found?.jobId).toBe("01K9ZQ4H7M3V8T2XE6RNQ4C7XQ");
  });

  test("offer nothing for values that are not known", () => {
    expect(texts("error:x")).toEqual([]);
    expect(texts("payload.user=1")).toEqual([]);
  });
});
