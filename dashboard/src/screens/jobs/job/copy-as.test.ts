import { describe, expect, test } from "vitest";
import { enqueueText, hasHiddenValue, shellWord, showText } from "./copy-as.ts";

// The page has no types of Node; the name as a value keeps them out of its check.
const CHILD_PROCESS: string = "node:child_process";
const { spawnSync } = await import(CHILD_PROCESS);

/** The words that bash passes on when it runs `command` with a function for each program. */
function wordsIn(command: string): readonly string[] {
  const script = `
    print() { printf '%s\\0' "$@"; }
    millrace() { print millrace "$@"; }
    curl() { print curl "$@"; }
    ${command}
  `;
  const run = spawnSync("bash", ["--norc", "-c", script], {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin", MILLRACE_TOKEN: "token-of-the-shell" },
  });
  expect(run.stderr).toBe("");
  return run.stdout.split("\0").slice(0, -1);
}

const HOSTILE = [
  "plain",
  "",
  "it's",
  "'; touch broken; '",
  "$(touch broken)",
  "`touch broken`",
  "$HOME ${HOME} !! ~ * ? [a] {a,b}",
  "two\nlines\r\n\ttab",
  'a "quoted" \\ back\\\\slash \\n',
  "-5",
  "--server=http://evil.example",
  "\u001b[31m escape \u0007 bell \u009b c1",
  "'\n'",
  "王小明 🚲 é",
  "# comment; & | > < ( )",
  "@/etc/passwd",
  "\\'",
];

describe("words of a shell", () => {
  test.each(HOSTILE)("bash reads %j as it was", (text) => {
    expect(wordsIn(`print ${shellWord(text)}`)).toEqual([text]);
  });

  test("have no character that a terminal acts on", () => {
    // oxlint-disable-next-line no-control-regex -- These are meant.
    for (const text of HOSTILE) expect(shellWord(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});

describe("a job that is copied", () => {
  const server = "https://mill.example/jobs'$(id)";

  test.each(HOSTILE)("survives bash with %j in every field", (text) => {
    const job = {
      id: "01K9ZQ4H7M3V8T2XE6RNQ4C7XQ",
      type: text,
      tenant: text,
      priority: 100,
      tags: { [text]: text },
      correlationId: text,
    };
    const payload = JSON.stringify({ text, big: 1 }).replace("1}", "90071992547409931}");
    const words = wordsIn(enqueueText("cli", job, payload, server));
    expect(words).toEqual([
      "millrace",
      "enqueue",
      `--tenant=${text}`,
      "--priority=100",
      `--tag=${text}=${text}`,
      `--server=${server}`,
      "--",
      text,
      payload,
    ]);
    const sent = wordsIn(enqueueText("curl", job, payload, server));
    expect(sent).toContain("Authorization: Bearer token-of-the-shell");
    const body = sent.at(-1) ?? "";
    expect(JSON.parse(body)).toMatchObject({ type: text, options: { tenant: text } });
    expect(body).toContain("90071992547409931");
  });

  test("has no token, but the name of its variable", () => {
    const job = { id: "A", type: "a", tenant: "t", priority: 1, tags: {}, correlationId: "c" };
    expect(enqueueText("curl", job, null, server)).toContain(
      '"Authorization: Bearer $MILLRACE_TOKEN"',
    );
    expect(showText("curl", job, server)).toContain("$MILLRACE_TOKEN");
    expect(wordsIn(showText("cli", job, server))).toEqual([
      "millrace",
      "jobs",
      "show",
      "A",
      "--server",
      server,
    ]);
  });

  test("is code that makes the same values", () => {
    const job = { id: "A", type: 'a"b', tenant: "t", priority: 1, tags: {}, correlationId: "c" };
    const code = enqueueText("typescript", job, '{"__proto__":{"x":1},"a":"</script>"}', server);
    const [, type = ""] = /defineJob\(\{ type: (".*?"), payload/.exec(code) ?? [];
    expect(JSON.parse(type)).toBe('a"b');
    expect(code).toContain("JSON.parse(");
    expect(enqueueText("typescript", job, '{"a":1}', server)).toContain('enqueue(job, {"a":1}, ');
  });
});

test("a payload with a hidden value is known, so that no command enqueues the placeholder", () => {
  expect(hasHiddenValue('"[redacted]"')).toBe(true);
  expect(hasHiddenValue('{"user":{"card":"[redacted]"}}')).toBe(true);
  expect(hasHiddenValue('{"note":"it was redacted"}')).toBe(false);
  expect(hasHiddenValue(null)).toBe(false);
});
