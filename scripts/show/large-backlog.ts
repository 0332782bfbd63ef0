/**
 * How long lists, statistics and doctor take with a million finished and 100,000 waiting jobs, and
 * how many statements they need.
 *
 *     node --conditions=source scripts/show/large-backlog.ts [--store postgres] [--waiting 100000]
 *
 * Sound: every list takes at most the statements of one page, finds the rare jobs by its cursors,
 * and doctor takes at most `--doctor` milliseconds.
 */
import { runCommandLine } from "../../src/cli/program.ts";
import { openMillrace } from "../../src/index.ts";
import type { JobFilter, Millrace } from "../../src/index.ts";
import { countStatements } from "../../test/support/statements.ts";
import { table } from "../lib/table.ts";
import { fillBacklog } from "./lib/backlog/fill.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const {
  stores,
  finished,
  waiting,
  doctor: doctorMsMax,
} = numbersAndStores("large-backlog.ts", {
  finished: 1_000_000,
  waiting: 100_000,
  doctor: 3_000,
});
/** Pages that are followed before a search counts as endless. */
const PAGES_MAX = 500;
const STATEMENTS_MAX = 40;

const FILTERS: readonly JobFilter[] = [
  {},
  { state: "queued", type: "rare" },
  { state: "completed", type: "rare" },
  { state: "failed", type: "rare" },
  { state: "completed" },
  { state: "completed", limit: 1_000 },
  { state: "failed", type: "report" },
  { state: "failed", type: "email" },
  { state: "running" },
  { state: "scheduled", type: "email" },
  { state: ["failed", "queued"], type: "rare" },
  { tenant: "default", state: "cancelled" },
];

await onStage(async () => {
  const rows: string[][] = [];
  let sound = true;
  for (const kind of stores) {
    const outcome = await measure(kind);
    rows.push(...outcome.rows);
    sound &&= outcome.sound;
  }
  const head = ["store", "what", "ms", "statements", "pages to the end", "jobs", "said"];
  for (const line of table(head, rows)) console.log(line);
  return { sound };
});

async function measure(kind: StoreKind): Promise<{ rows: string[][]; sound: boolean }> {
  await using places = await Places.open(kind);
  const url = places.next();
  await (await openMillrace(url)).close();
  const began = performance.now();
  await fillBacklog(url, { finished, waiting });
  console.log(`${kind}: filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  const rows: string[][] = [];
  const verdicts: boolean[] = [];
  const mill = await openMillrace(url);
  for (const filter of FILTERS) {
    const { row, statements } = await listed(mill, filter);
    rows.push([kind, `list ${JSON.stringify(filter)}`, ...row]);
    verdicts.push(statements <= STATEMENTS_MAX);
  }
  const stats = await timed(() => mill.jobs.stats());
  rows.push([kind, "stats", ...figures(stats), "", "", JSON.stringify(stats.answer)]);
  await mill.close();
  for (const args of [["doctor"], ["doctor", "--deep"]]) {
    const { said, ...run } = await commandLine([...args, "--db", url]);
    rows.push([kind, args.join(" "), ...figures(run), "", "", `exit ${run.answer}`]);
    console.log(`${kind} ${args.join(" ")}\n${said}`);
    if (args.length === 1) verdicts.push(run.ms <= doctorMsMax);
  }
  return { rows, sound: verdicts.every(Boolean) };
}

/** The first page, and how many pages and jobs follow. */
async function listed(
  mill: Millrace,
  filter: JobFilter,
): Promise<{ row: string[]; statements: number }> {
  const first = await timed(() => mill.jobs.list(filter));
  let page = first.answer;
  let jobs = page.jobs.length;
  let pages = 1;
  while (page.next !== null && page.jobs.length < (filter.limit ?? 50) && pages < PAGES_MAX) {
    page = await mill.jobs.list({ ...filter, after: page.next });
    jobs += page.jobs.length;
    pages += 1;
  }
  const said = "cutShort" in first.answer && first.answer.cutShort ? "cut short" : "";
  return {
    row: [...figures(first), String(pages), String(jobs), said],
    statements: first.statements,
  };
}

async function commandLine(args: readonly string[]): Promise<Timed<number> & { said: string }> {
  let said = "";
  const keep = (text: string): void => void (said += text);
  return { ...(await timed(() => runCommandLine(args, { out: keep, err: keep }))), said };
}

interface Timed<Answer> {
  readonly answer: Answer;
  readonly ms: number;
  readonly statements: number;
}

async function timed<Answer>(work: () => Promise<Answer>): Promise<Timed<Answer>> {
  const began = performance.now();
  const { answer, statements } = await countStatements(work);
  return { answer, statements, ms: performance.now() - began };
}

function figures({ ms, statements }: Timed<unknown>): string[] {
  return [String(Math.round(ms)), String(statements)];
}
