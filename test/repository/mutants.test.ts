/** Every planted fault names a text that occurs once, so that a changed wording is noticed here. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { queryFiles, splitQueries, type Dialect } from "../../scripts/sql/files.ts";
import { root } from "../../scripts/lib/command.ts";
import { mutants, type Mutant } from "../conformance/mutants/all.ts";
import { mutants as simulated } from "../simulation/mutants/all.ts";

describe.each(["sqlite", "postgres"] as const)("the planted faults of the %s store", (dialect) => {
  const queries = new Map(
    queryFiles(dialect)
      .flatMap(({ path, text }) => splitQueries(path, text))
      .map(({ name, text }) => [name, text]),
  );

  test("name a text that occurs once in its file or query", () => {
    const wrong = mutants[dialect].filter(
      ({ place, replace: [from] }) => timesIn(textAt(dialect, place, queries), from) !== 1,
    );
    expect(wrong.map(nameOf)).toEqual([]);
  });
});

describe("the planted faults of the simulation", () => {
  test("name a text that occurs once in its file", () => {
    const wrong = simulated.filter(({ file, now }) => timesIn(read(file), now) !== 1);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});

describe("the show of planted faults", () => {
  test("tries the mutants of a part one by one after its limit", async () => {
    const { code, stdout, stderr } = await show("--seconds", "0.01", "ends");

    expect(code).toBe(0);
    expect(stderr).toMatch(/^ends: 2 mutants, \d+ s$/m);
    expect(stdout).toMatch(/^2 mutants, 2 caught, 0 survived$/m);
  }, 120_000);
});

interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function show(...args: readonly string[]): Promise<Ending> {
  const script = join(root, "scripts", "show", "mutants.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

/** A place is a file of the store, a file below `sql/<dialect>`, or a named query. */
function textAt(dialect: Dialect, place: string, queries: ReadonlyMap<string, string>): string {
  if (place.endsWith(".ts")) return read(`src/store/${dialect}/${place}`);
  if (place.endsWith(".sql")) return read(`sql/${dialect}/${place}`);
  return queries.get(place) ?? "";
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function timesIn(text: string, part: string): number {
  return text.split(part).length - 1;
}

function nameOf({ verb, place, mutant }: Mutant): string {
  return `${verb}, ${place}: ${mutant}`;
}
