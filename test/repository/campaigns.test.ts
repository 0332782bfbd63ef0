import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";
import { CAMPAIGNS } from "../../scripts/lib/campaigns.ts";
import { bin, root, runQuietly } from "../../scripts/lib/command.ts";
import { PROJECTS } from "../../scripts/lib/projects.ts";
import { ranNoTest } from "../../scripts/lib/ran-no-test.ts";

const words = CAMPAIGNS.flatMap(({ short, full }) => [...short, ...full].flat());

describe("the campaigns", () => {
  test("run only test projects and scripts that exist", () => {
    const projects = words.flatMap((word) => word.match(/(?<=^--project=).*/) ?? []);
    const scripts = words.filter((word) => word.startsWith("scripts/"));

    const known = PROJECTS.map(({ name }) => name);
    expect(projects.filter((name) => !known.includes(name))).toEqual([]);
    expect(scripts.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(scripts).not.toEqual([]);
  });

  test("run every project that npm test leaves out", () => {
    const left = PROJECTS.filter(({ level }) => level === "campaign").map(({ name }) => name);

    expect(left).not.toEqual([]);
    expect(left.filter((name) => !words.includes(`--project=${name}`))).toEqual([]);
  });

  test("are listed by name", async () => {
    const { code, output } = await campaign("--list");

    expect(code).toBe(0);
    expect(CAMPAIGNS.filter(({ name }) => !output.includes(`\n${name} `))).toEqual([]);
  });

  test.each([["--only", "nothing"], ["--shorter"]])(
    "refuse what they do not know: %s",
    async (...args) => {
      expect(await campaign(...args)).toMatchObject({ code: 2 });
    },
  );
});

describe("the projects", () => {
  test("run every test file once: units, parts together, whole programs (001-41)", () => {
    const found = globSync("{src,test,examples}/**/*.test.ts", { cwd: root });
    // Packages of the examples and of the transaction libraries have tests of their own.
    const files = found.filter((file) => !file.includes("node_modules"));
    const homes = new Map(
      files.map((file) => [
        file,
        PROJECTS.filter(({ include }) => include.some((each) => matchesGlob(file, each))),
      ]),
    );

    const astray = files.filter((file) => homes.get(file)?.length !== 1);
    expect(astray).toEqual([]);
    const used = new Set([...homes.values()].flat().map(({ name }) => name));
    expect(PROJECTS.filter(({ name }) => !used.has(name))).toEqual([]);
    expect([...used]).toEqual(expect.arrayContaining(["unit", "runtime", "postgres", "e2e"]));
  });
});

describe("a part of a campaign", () => {
  const command = [bin("vitest"), "run", "--project=chaos"] as const;

  test("fails when its filter matches no test", async () => {
    const { output } = await runQuietly(command[0], [
      ...command.slice(1),
      "--reporter=default",
      "-t",
      "matches nothing",
    ]);

    expect(output).toContain("2 skipped");
    expect(ranNoTest(command, output)).toBe(true);
    expect(ranNoTest(["env", "SOME=thing", ...command], output)).toBe(true);
  });

  test("passes when a test ran, and when it is no test at all", () => {
    expect(ranNoTest(command, " Test Files  1 passed (1)\n      Tests  2 passed (2)\n")).toBe(
      false,
    );
    expect(ranNoTest(command, " Tests  1 passed | 3 skipped (4)")).toBe(false);
    expect(ranNoTest(["node", "scripts/chaos.ts"], "sound")).toBe(false);
  });
});

describe("a sample in npm test", () => {
  test("is the smallest size, unless a campaign runs it", () => {
    const inCampaign = process.env["MILLRACE_CAMPAIGN"];

    expect(sized({ smoke: undefined, short: "short", full: "full" })).toBe(inCampaign);
  });
});

function campaign(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const script = join(root, "scripts", "campaign.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout });
    });
  });
}
