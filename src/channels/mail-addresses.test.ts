import { describe, expect, test } from "vitest";
import { addressOf, someAddresses } from "./mail-addresses.ts";

describe("addressOf", () => {
  test.each([
    ["ada@example.com", { name: "", address: "ada@example.com" }],
    ["Ada <ada@example.com>", { name: "Ada", address: "ada@example.com" }],
    ['"Lovelace, Ada" <ada@example.com>', { name: "Lovelace, Ada", address: "ada@example.com" }],
    ["<ada@example.com>", { name: "", address: "ada@example.com" }],
    [{ address: "ada@example.com" }, { name: "", address: "ada@example.com" }],
    [
      { name: "Lovelace, Ada", address: "ada@example.com" },
      { name: "Lovelace, Ada", address: "ada@example.com" },
    ],
  ])("reads %o", (entry, address) => {
    expect(addressOf(entry)).toEqual(address);
  });

  test.each([
    "Bob, eve@evil.com <bob@x.com>",
    "eve@evil.com, Bob <bob@x.com>",
    "eve@evil.com Bob <bob@x.com>",
    "list: a@x.com, b@x.com;",
    "a@x.com,b@x.com",
    "bob@x.com> SIZE=1 <eve@x.com",
    "bob@x.com SMTPUTF8",
    '"a b"@x.com',
    "bob@x.com\u2028RCPT",
    "bob@x.com\r\nBcc: eve@x.com",
    "Bob\n<bob@x.com>",
    "  ",
    "bob",
    7,
    null,
    ["bob@x.com"],
    { name: "Bob" },
    { name: 7, address: "bob@x.com" },
    { name: "Bob\r\nBcc: eve@x.com", address: "bob@x.com" },
    { name: "Bob", address: "a@x.com, b@x.com" },
    { address: "bob@x.com", group: [] },
  ])("refuses %o, which is not exactly one address", (entry) => {
    expect(addressOf(entry)).toBeNull();
  });
});

test("someAddresses takes 1 to 100 entries of one address each", () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `u${n}@x.com`);
  expect(someAddresses(many(100), "to")).toBeNull();
  expect(someAddresses(many(101), "to")).not.toBeNull();
  expect(someAddresses([], "to")).not.toBeNull();
  expect(someAddresses([many(500).join(",")], "to")).not.toBeNull();
});
