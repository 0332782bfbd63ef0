import { describe, expect, test } from "vitest";
import { linkFault, linkNameFault } from "./link-templates.ts";

describe("a link template", () => {
  test.each([
    "https://trace.example/{correlation_id}",
    "http://localhost:3000/u/{payload.userId}?tenant={tenant}#{tags.order}",
    "http://localhost:3000/{tags.app.version}",
    "https://x.example/{id}/{type}/{parent_id}/{payload.order.id}",
    "https://x.example",
  ])("%s is accepted", (template) => {
    expect(linkFault(template)).toBeNull();
  });

  test.each([
    ["javascript:alert(1)", "http://"],
    ["ftp://x.example/{id}", "http://"],
    ["/jobs/{id}", "http://"],
    ["https://", "http://"],
    ["https://:99999/{id}", "http://"],
    ["https://x.example/{userId}", "{userId} is not known"],
    ["https://x.example/{payload}", "{payload} is not known"],
    ["https://x.example/{payload.}", "{payload.} is not known"],
    ["https://x.example/{}", "{} is not known"],
    ["https://x.example/{id", "brace"],
    ["https://x.example/id}", "brace"],
    ["https://user:secret@x.example/{id}", "no password"],
    ["https://{payload.host}/a", "host"],
    ["https://x.{tenant}.example?{id}", "host"],
    [`https://x.example/${"a".repeat(2_000)}`, "2000 characters"],
  ])("%s is refused", (template, fault) => {
    expect(linkFault(template)).toContain(fault);
  });

  test.each(["trace", "Page of the user", "a".repeat(50)])("may be called %s", (name) => {
    expect(linkNameFault(name)).toBeNull();
  });

  test.each(["", "  ", "a\nb", "a".repeat(51)])("may not be called %j", (name) => {
    expect(linkNameFault(name)).toContain("1 to 50 characters");
  });
});
