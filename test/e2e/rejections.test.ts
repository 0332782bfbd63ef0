import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const CHILD = join(import.meta.dirname, "programs", "rejections.child.ts");
/** Makes a younger Node follow contexts as Node 22 does. */
const AS_NODE_22 = process.versions.node.startsWith("22.") ? [] : ["--no-async-context-frame"];

describe("a rejection that comes from no handler, while a worker runs", () => {
  test("ends the process with the original error, as it would without Millrace", () => {
    const { status, stdout, stderr } = start("foreign");

    expect(stdout).toBe("alive\n");
    expect(stderr).toContain("Error: not caught\n    at");
    expect(stderr).toContain("rejections.child.ts");
    expect(stderr).not.toContain("rejections.ts:");
    expect(status).toBe(1);
  });

  test("is explained by Node when it is no error", () => {
    const { status, stderr } = start("text");

    expect(stderr).toContain('The promise rejected with the reason "just text"');
    expect(status).toBe(1);
  });

  test("reaches those who handle uncaught exceptions, and the workers go on", () => {
    const { status, stdout, stderr } = start("caught");

    expect(stdout).toBe("alive\nunhandledRejection: not caught\nalive again\n");
    expect(stderr.match(/unhandled rejection in a handler/g)).toHaveLength(2);
    expect(status).toBe(0);
  });

  test.each([
    ["none", 0, /^(?!.*not caught)/s],
    ["warn", 0, /^(?:(?!not caught).)*not caught(?!.*not caught)/s],
    ["strict", 1, /left behind/],
  ])("ends as --unhandled-rejections=%s says", (mode, code, told) => {
    const { status, stderr } = start("foreign", `--unhandled-rejections=${mode}`);

    expect(stderr).toMatch(told);
    expect(status).toBe(code);
  });
});

describe("a promise that a handler leaves behind", () => {
  test("is known as its own without async context frames, as on Node 22", () => {
    const { stdout, stderr } = start("foreign", ...AS_NODE_22);

    expect(stdout).toBe("alive\n");
    expect(stderr).toContain("unhandled rejection in a handler");
  });
});

function start(what: string, ...options: readonly string[]) {
  return spawnSync(process.execPath, [...options, CHILD, what], {
    encoding: "utf8",
    timeout: 60_000,
  });
}
