import { describe, expect, test } from "vitest";
import { Project, TestStore, type } from "../command-line.ts";
import type { Ended } from "../programs.ts";

describe("millrace payloads rules", () => {
  test("sets, lists and removes rules", async () => {
    await using store = new TestStore();
    await store.json("enqueue", "email");

    const empty = await store.type("payloads", "rules", "list");
    const set = await store.type(
      "payloads",
      "rules",
      "set",
      "--type",
      "scan",
      "--require",
      "document_id:integer",
      "--require",
      "name",
      "--hard",
      "5000",
      "--forbid",
      "body",
      "--sensitive",
      "tokens=reject",
      "--strict",
      "--by",
      "ada",
      "--reason",
      "an audit",
    );
    const listed = await store.json("payloads", "rules", "list");
    const table = await store.type("payloads", "rules", "list");
    const refused = await store.type("enqueue", "scan", '{"body":"x"}', "--no-jobs");
    const removed = await store.type("payloads", "rules", "remove", "--type", "scan");
    const again = await store.type("payloads", "rules", "remove", "--type", "scan");

    expect(empty.err).toContain("There are no payload rules.");
    expect(set).toMatchObject({ code: 0, out: "The payload rule of the type scan is set.\n" });
    expect(listed).toMatchObject([
      {
        scope: "type",
        name: "scan",
        rule: {
          required: { document_id: "integer", name: "any" },
          hardBytes: 5000,
          forbidden: ["body"],
          sensitive: { tokens: "reject" },
          strict: true,
        },
        setBy: "ada",
        reason: "an audit",
      },
    ]);
    expect(table.out).toContain("an audit");
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("PAYLOAD_RULE_BROKEN");
    expect(removed.out).toBe("The payload rule of the type scan is removed.\n");
    expect(again.out).toBe("There is no payload rule of the type scan.\n");
  });

  test.each([
    [["--hard", "5000"], "The rule has no target."],
    [["--installation", "--hard", "much"], "is not a number of bytes"],
    [["--installation", "--sensitive", "tokens"], "names no action"],
    [["--installation", "--sensitive", "tokens=ignore"], "OPTION_INVALID"],
    [["--category", "sync"], "names nothing to check"],
  ])("refuses %j", async (args, message) => {
    await using store = new TestStore();
    const { code, err } = await store.type("payloads", "rules", "set", ...args);

    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

const NEW_CODE = `
import { defineJob, typed } from "millrace";
const payload = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      value.name ? { value } : { issues: [{ message: "is missing", path: ["name"] }] },
  },
};
export const greet = defineJob({
  type: "greet",
  payload,
  payloadVersion: "3",
  upcast: { "2": ({ who }) => ({ name: who }) },
}).run(() => {});
`;

describe("millrace payloads check", () => {
  test("tells before a deploy which waiting payloads the new code refuses", async () => {
    using project = new Project();
    project.write("next.ts", NEW_CODE);
    const db = ["--db", project.db];
    const check = async (...more: string[]): Promise<Ended> =>
      project.start("payloads", "check", "--jobs", "next.ts", ...more).ended;
    const add = async (payload: string, ...more: string[]): Promise<string> => {
      const { out } = await type("enqueue", "greet", payload, "--no-jobs", ...more, ...db);
      return out.trim();
    };
    await add('{"name":"Ada"}', "--payload-version", "3");
    await add('{"who":"Bob"}', "--payload-version", "2");
    const clean = await check();
    const nameless = await add('{"who":""}', "--payload-version", "2");
    const old = await add('{"first":"Cleo"}');
    const newer = await add('{"name":"Dora"}', "--payload-version", "4", "--delay", "1h");
    await type("enqueue", "fax", "--no-jobs", ...db);

    const shown = await check();
    const told = JSON.parse((await check("-o", "json")).stdout);

    expect(clean).toMatchObject({ code: 0 });
    expect(clean.stdout).toContain("2 waiting jobs are checked");
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain("does not declare: fax (1)");
    expect(shown.stdout).toContain("fails at its run");
    expect(told).toMatchObject({
      checked: 6,
      refused: 3,
      breaking: 0,
      unknownTypes: [{ type: "fax", count: 1 }],
    });
    const refusals: { error: string; ids: string[] }[] = told.refusals;
    const idsOf = (text: string) => refusals.find(({ error }) => error.includes(text))?.ids;
    expect(idsOf("payload.name: is missing")).toEqual([nameless]);
    expect(idsOf("no upcast leads to version 3")).toEqual([old]);
    expect(idsOf("has version 4, and this code knows version 3")).toEqual([newer]);
  });

  test("tells payloads that fail at their run from those that break a rule", async () => {
    using project = new Project();
    const preset =
      'import { practice } from "millrace";\nexport const preset = { ...practice, ' +
      'payloadRules: { types: { greet: { forbidden: ["who"] } } } };\n';
    project.write("next.ts", `${NEW_CODE}${preset}`);
    const db = ["--db", project.db];
    await type("enqueue", "greet", '{"who":"Bob"}', "--payload-version", "2", "--no-jobs", ...db);

    const check = project.start("payloads", "check", "--jobs", "next.ts");
    const strict = project.start("payloads", "check", "--jobs", "next.ts", "--strict");
    const [lenient, refused] = await Promise.all([check.ended, strict.ended]);
    const rules = await type("payloads", "rules", "list", "-o", "json", ...db);

    expect(lenient.code).toBe(0);
    expect(lenient.stdout).toMatch(/greet +1 +breaks a rule +.*who/);
    expect(lenient.stdout).toContain("1 more would run, and break a rule for new jobs.");
    expect(refused).toMatchObject({ code: 1, stdout: lenient.stdout });
    expect(JSON.parse(rules.out)).toEqual([]);
  });
});
