import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

describe("a word of a printed command", () => {
  test.each(["email", "./jobs.db", "sqlite:/var/jobs.db", "a_b-c=1,2@x"])(
    "stays as it is when a shell reads it as it is: %s",
    (word) => {
      expect(shellWord(word)).toBe(word);
    },
  );

  test.each([
    "a b",
    "$(touch x)",
    "`id`",
    "it's",
    "a;rm -rf b",
    "!!",
    '"',
    "",
    "*",
    "~",
    "a\nb",
    "Zoë",
    "-n",
    "\\",
  ])("reaches a program as it was: %j", (word) => {
    const script = `printf %s ${shellWord(word)}`;

    expect(execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" })).toBe(word);
  });
});
