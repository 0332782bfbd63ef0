/** Numbers and lists of the pages are those of the code. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { EXIT } from "../../src/cli/terminal/exit-codes.ts";
import { CATALOGUE } from "../../src/core/errors.ts";
import { EVENT_NAMES } from "../../src/api/events.ts";
import { PRIORITIES } from "../../src/core/job.ts";
import { ROOT } from "../api/children.ts";
import { openServer } from "../support/http/http-server.ts";
import { blocksOf, rowsOf } from "./markdown.ts";
import { userPages } from "./pages.ts";
import { presetTable } from "./preset-table.ts";

describe("docs/command-line.md", () => {
  test("lists the commands of the program, and what each does", async () => {
    const rows = rowsOf(await page("command-line")).filter(([name]) =>
      name!.startsWith("`millrace "),
    );

    expect(rows).toEqual(
      commands().map(({ name, does }) => [`\`millrace ${name}\``, does] as const),
    );
  });

  test("has an example of each command", async () => {
    const code = blocksOf(await page("command-line"))
      .filter(({ language }) => language === "sh")
      .map((block) => block.code);
    const missing = commands().filter(({ name }) => !code.join("").includes(`millrace ${name} `));

    expect(missing.filter(({ name }) => !code.join("").includes(`millrace ${name}\n`))).toEqual([]);
  });

  test("lists the exit codes", async () => {
    const rows = rowsOf(await page("command-line")).filter(([code]) => /^\d+$/.test(code!));

    expect(rows.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });
});

describe("docs/http-api.md", () => {
  test("lists the paths of the server, and no others", async () => {
    await using server = await openServer();
    const named = rowsOf(await page("http-api")).flatMap(([cell = "", words = ""]) =>
      [...cell.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/g)].flatMap(([, path = ""]) =>
        path.endsWith("…") ? codesIn(words).map((word) => path.replace("…", word)) : [path],
      ),
    );

    const served = server.app.routes
      .filter(
        ({ method, path }) => method !== "ALL" && !/^\/$|^\/assets\/|\.(?:svg|md)$/.test(path),
      )
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    expect(named.toSorted()).toEqual([...new Set(served)].toSorted());
  });
});

function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

describe("docs/presets.md", () => {
  test("has the numbers of the exported presets", async () => {
    const wanted = presetTable();
    const rows = rowsOf(await page("presets")).filter((row) => row.length === wanted[0]?.length);

    expect(rows).toEqual(wanted);
  });
});

describe("docs/choosing-a-store.md", () => {
  test("has the ratios that were last recorded", async () => {
    const text = await readFile(join(ROOT, "bench/history.json"), "utf8");
    const history: Record<string, Record<string, number>> = JSON.parse(text);
    const ratios = new Map(Object.entries({ ...history["engine"], ...history["peers"] }));
    const rows = rowsOf(await page("choosing-a-store")).filter(([name]) => name!.includes(" ÷ "));

    expect(rows.length).toBeGreaterThan(10);
    for (const [name = "", ratio] of rows) {
      expect([name, ratio]).toEqual([name, ratios.get(name)?.toFixed(2)]);
    }
  });

  test("compares with the fastest of the other systems", async () => {
    const text = await readFile(join(ROOT, "bench/history.json"), "utf8");
    const { peers }: { peers: Record<string, number> } = JSON.parse(text);
    const rows = rowsOf(await page("choosing-a-store"));

    for (const name of rows.map(([first = ""]) => first).filter((first) => first in peers)) {
      const [work = ""] = name.split(" ÷ ");
      const all = Object.entries(peers).filter(([other]) => other.startsWith(`${work} ÷ `));
      expect([name, peers[name]]).toEqual([name, Math.min(...all.map(([, ratio]) => ratio))]);
    }
  });
});

describe("the pages for users", () => {
  test("name only error codes that exist", async () => {
    const known = Object.keys(CATALOGUE);
    const unknown = (await userPages()).flatMap(({ path, text }) =>
      [...text.matchAll(/`([A-Z]{2,}(?:_[A-Z]+)+)`/g)]
        .map(([, code = ""]) => code)
        .filter((code) => !known.includes(code) && !OTHER_NAMES.test(code))
        .map((code) => `${path}: ${code}`),
    );

    expect(unknown).toEqual([]);
  });

  test("list every event", async () => {
    const text = await page("events");

    expect(EVENT_NAMES.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test("have the numbers of the priorities", async () => {
    const numbers = Object.entries(PRIORITIES).map(([name, number]) => `\`${name}\` ${number}`);

    expect(await page("workers")).toContain(numbers.join(", "));
  });
});

/** Environment variables, and the codes of log lines. */
const OTHER_NAMES = /^(MILLRACE_|LEASE_EXPIRED$|CLOCK_SKEWED$|NO_COLOR$|JOB_CATEGORIES$)/;

interface Described {
  readonly name: string;
  readonly does: string;
}

/** Every command that does something, in the order of the help. */
function commands(): readonly Described[] {
  const program = createProgram({ terminal: { out() {}, err() {} }, end() {} });
  return program.commands.flatMap((command) => leavesOf(command, command.name()));
}

function leavesOf(command: Command, name: string): readonly Described[] {
  if (command.commands.length === 0) return [{ name, does: command.description() }];
  return command.commands.flatMap((each) => leavesOf(each, `${name} ${each.name()}`));
}

function page(name: string): Promise<string> {
  return readFile(join(ROOT, "docs", `${name}.md`), "utf8");
}
