/** The SQL of docs/supervisors-in-sql.md runs in its order, on what its command writes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { expect, test } from "vitest";
import { openMillrace } from "../../src/index.ts";
import { root } from "../../scripts/lib/command.ts";
import { type } from "../cli/command-line.ts";
import { connect, startPostgres } from "../support/postgres.ts";
import { blocksOf } from "./markdown.ts";

const page = readFileSync(join(root, "docs", "supervisors-in-sql.md"), "utf8");

test("the recipe of a supervised process has seven steps, and its SQL runs (002-42)", async () => {
  await using server = await startPostgres({ durable: false });
  const mill = await openMillrace(server.url);
  await mill.close();
  const client = await connect(server.url);
  const { complaints, compared } = await runRecipe(client);

  expect(complaints).toEqual([]);
  expect(compared).toBeGreaterThan(15);
  expect(page.match(/^## \d\. /gm)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `## ${n}. `));
});

/** Runs the blocks, and ends the connection. */
async function runRecipe(client: Client): Promise<{ complaints: string[]; compared: number }> {
  try {
    return await runBlocks(client);
  } finally {
    await client.end();
  }
}

async function runBlocks(client: Client): Promise<{ complaints: string[]; compared: number }> {
  const complaints: string[] = [];
  let compared = 0;
  for (const { language, code, line } of blocksOf(page)) {
    if (language === "sh") await client.query(await migrationOf(code));
    if (language !== "sql") continue;
    for (const { text, expected } of statementsOf(code)) {
      const shown = await firstValue(client, text);
      if (expected === null) continue;
      compared += 1;
      if (shown !== expected) complaints.push(`line ${line}: ${shown} instead of ${expected}`);
    }
  }
  return { complaints, compared };
}

/** What the command of a block prints when it writes no file. */
async function migrationOf(code: string): Promise<string> {
  const command = code.split("\n").find((line) => line.startsWith("millrace process new")) ?? "";
  const words = command.split(" ");
  const { code: exit, out, err } = await type(...words.slice(1, words.indexOf("--out")));
  expect({ exit, err }).toEqual({ exit: 0, err: "" });
  return out;
}

/** A statement, or several, that end in a line `…; -- VALUE`. The rest of a block has no value. */
function statementsOf(code: string): { text: string; expected: string | null }[] {
  const found: { text: string; expected: string | null }[] = [];
  let lines: string[] = [];
  for (const line of code.split("\n")) {
    const [, statement, expected] = /^(.*;) -- (.+)$/.exec(line) ?? [];
    lines.push(statement ?? line);
    if (expected === undefined) continue;
    found.push({ text: lines.join("\n"), expected });
    lines = [];
  }
  const rest = lines.join("\n");
  return rest.trim() === "" ? found : [...found, { text: rest, expected: null }];
}

/** The first column of the first row of the last statement, as text. */
async function firstValue(client: Client, text: string): Promise<string> {
  const answer: unknown = await client.query({ text, rowMode: "array" });
  const last: any = Array.isArray(answer) ? answer.at(-1) : answer;
  return String(last.rows[0]?.[0] ?? null);
}
