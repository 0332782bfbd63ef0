import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { complaintAbout } from "../../src/lib/supported-node.ts";
import { oldNode, root, run } from "./programs.ts";

const entry = join(root, "bin", "millrace.js");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const supported: string = manifest.engines.node;

// Plain JavaScript without declarations, so the types are given here.
const { dropSqliteWarning }: { dropSqliteWarning: (host: FakeProcess) => void } = await import(
  join(root, "bin", "sqlite-warning.js")
);

describe("the version check", () => {
  test.each(["22.22.3", "22.23.0", "24.15.0", "24.21.0", "26.0.0", "27.1.0", "30.0.0-nightly"])(
    "accepts Node %s",
    (version) => {
      expect(complaintAbout(version)).toBeNull();
    },
  );

  test.each(["12.22.0", "20.20.2", "22.5.0", "22.22.2", "23.11.0", "24.14.9", "25.9.0"])(
    "refuses Node %s in two lines: what package.json demands, what to install",
    (version) => {
      const lines = complaintAbout(version)?.split("\n");

      expect(lines).toEqual([
        `millrace needs Node ${supported}, but this is Node ${version}.`,
        expect.stringMatching(/^Install Node 24/),
        "",
      ]);
    },
  );
});

describe("the program", () => {
  test("tells an old Node that it is too old, before it loads anything else", async (context) => {
    if (oldNode === null) return context.skip("this system has no Node older than 22");

    const { code, stdout, stderr } = await run(oldNode, [entry, "--version"]);

    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^millrace needs Node .*\nInstall Node 24.*\n$/);
  });

  test.for(["index.js", "store/sqlite/index.js", "store/postgres/index.js", "testing/index.js"])(
    "tells an old Node that it is too old when a program imports %s",
    async (file, context) => {
      if (oldNode === null) return context.skip("this system has no Node older than 22");
      const program = `import ${JSON.stringify(join(root, "dist", file))};`;

      const { code, stderr } = await run(oldNode, ["--input-type=module", "-e", program]);

      expect(code).toBe(1);
      expect(stderr).toContain(`Error: millrace needs Node ${supported}, but this is Node`);
      expect(stderr).toContain("Install Node 24");
    },
  );

  test("runs on this Node, without a warning", async () => {
    const { code, stdout, stderr } = await run(process.execPath, [entry, "--version"]);

    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
  });

  test.each(["bin/millrace.js", "bin/sqlite-warning.js", "dist/lib/supported-node.js"])(
    "keeps %s readable for an old Node: no static import, no young syntax",
    (file) => {
      const text = readFileSync(join(root, file), "utf8");

      expect(text).not.toMatch(/^\s*import\s+[\w{*"]/m);
      expect(text).not.toMatch(/\?\.|\?\?|\|\|=|&&=|^\s*await\b|#\w+[;(]/m);
    },
  );
});

describe("the SQLite warning", () => {
  const warning = "SQLite is an experimental feature and might change at any time";

  test("is dropped on Node 22, and no other is", () => {
    const { host, shown } = fakeProcess("22.22.3");

    dropSqliteWarning(host);
    host.emitWarning(warning, "ExperimentalWarning");
    host.emitWarning(warning, "DeprecationWarning");
    host.emitWarning("Fetch is an experimental feature", "ExperimentalWarning", "CODE");

    expect(shown).toEqual([
      [warning, "DeprecationWarning"],
      ["Fetch is an experimental feature", "ExperimentalWarning", "CODE"],
    ]);
  });

  test("is left alone on a Node that has none of its own", () => {
    const { host, shown } = fakeProcess("24.15.0");

    dropSqliteWarning(host);
    host.emitWarning(warning, "ExperimentalWarning");

    expect(shown).toEqual([[warning, "ExperimentalWarning"]]);
  });
});

interface FakeProcess {
  readonly versions: { readonly node: string };
  emitWarning: (...parts: unknown[]) => void;
}

function fakeProcess(node: string): { host: FakeProcess; shown: unknown[][] } {
  const shown: unknown[][] = [];
  const host = {
    versions: { node },
    emitWarning: (...parts: unknown[]) => void shown.push(parts),
  };
  return { host, shown };
}
