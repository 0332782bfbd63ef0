import { describe, expect, test } from "vitest";
import { encodedIn } from "./encodings.ts";

describe("a text within a text", () => {
  test.each([
    ["base64", "cGFzc3dvcmQ6IHR1bGlwcw==", "password: tulips"],
    ["base64 without its end", "cGFzc3dvcmQ6IHR1bGlwcw", "password: tulips"],
    ["base64 of an address", "eyJhIjoi5pel5pys6Kqew78_PiJ9", '{"a":"日本語ÿ?>"}'],
    ["hexadecimal digits", "70617373776f72643a2074756c697073", "password: tulips"],
    ["an encoded address", "%7B%22name%22%3A%22ada%22%7D", '{"name":"ada"}'],
  ])("is read in %s", (_, text, plain) => {
    expect(encodedIn(text)).toBe(plain);
  });

  test.each([
    ["a UUID", "550e8400-e29b-41d4-a716-446655440000"],
    ["an id with one letter too many", "email_fetch_conn_456_msg1"],
    ["base64 with a wrong end", "cGFzc3dvcmQ6IHR1bGlwcw="],
    ["bytes that are no UTF-8", "gICAgICAgICAgICAgICAgA=="],
    ["a hash", "d41d8cd98f00b204e9800998ecf8427e"],
    ["an address that breaks off", "%7B%22name%22%3"],
  ])("is not read in %s", (_, text) => {
    expect(encodedIn(text)).toBeNull();
  });
});
