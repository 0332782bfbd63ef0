import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { drainCommand, shellWord } from "./shell-word.ts";

test.each(["email", "a b", "it's", "$(id)", "`id`", '"', "a\nb", "-n", "<img src=x onerror=1>"])(
  "bash reads the word %j as it is",
  (text) => {
    const read = execFileSync("bash", ["-c", `printf %s ${shellWord(text)} | od -An -tx1`]);
    const bytes = read.toString().replaceAll(/\s/g, "");
    expect(bytes).toBe(text === "-n" ? "2d6e" : Buffer.from(text).toString("hex"));
  },
);

test.each(["lane", "type"] as const)("the command that drains a %s quotes its name", (kind) => {
  expect(drainCommand(kind, "a b")).toBe(
    `npx millrace drain --${kind} 'a b' --reason "maintenance"`,
  );
});
