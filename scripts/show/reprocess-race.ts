/**
 * Two calls reprocess the same dead letter at the same instant, `--rounds` times in the library and
 * as often over HTTP: one new job, which both answers name.
 *
 *     node --conditions=source scripts/show/reprocess-race.ts [--store postgres] [--rounds 200]
 */
import { defineJob, openMillrace, type Millrace } from "millrace";
import { Places } from "./lib/databases.ts";
import { startServer, TOKEN } from "./lib/http/server-process.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, rounds } = numbersAndStores("reprocess-race.ts", { rounds: 200 });

const doomed = defineJob({ type: "doomed" }).run(() => {});

interface Answer {
  readonly id: string;
  readonly created: boolean;
}

type Reprocess = (id: string) => Promise<Answer>;

await onStage(async () => {
  let sound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const url = places.next();
    await using mill = await openMillrace(url);
    // A second process would have a store of its own, and so has the server.
    await using server = await startServer({ url, port: 0 });
    const library: Reprocess = (id) => mill.deadLetters.reprocess(id, { actor: "show" });
    const http: Reprocess = (id) => overHttp(server.origin, id);
    for (const [name, ways] of [
      ["library", [library, library]],
      ["HTTP", [http, http]],
      ["library and HTTP", [library, http]],
    ] as const) {
      const findings = await race(mill, ways);
      console.log(`${kind}, ${name}: ${rounds} races, ${findings.length} findings`);
      for (const finding of findings.slice(0, 10)) console.log(`  ${finding}`);
      sound &&= findings.length === 0;
    }
  }
  return { sound };
});

async function race(mill: Millrace, [one, other]: readonly [Reprocess, Reprocess]) {
  const findings: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const key = `${Math.random()}`;
    const { id } = await mill.enqueue(doomed, undefined, { idempotencyKey: key });
    await mill.jobs.fail(id, "for the race");
    const answers = await Promise.all([one(id), other(id)]);
    const { jobs } = await mill.jobs.list({ type: "doomed", state: "queued", limit: 10 });
    const successors = jobs.filter(({ retryOf }) => retryOf === id);
    const created = answers.filter((answer) => answer.created).length;
    const isOne = answers[0]?.id === answers[1]?.id && successors.length === 1 && created === 1;
    if (!isOne) findings.push(`${id}: ${JSON.stringify(answers)}, ${successors.length} successors`);
    const isNamed = successors[0]?.idempotencyKey?.startsWith(`${key}_retry_`) === true;
    if (!isNamed) findings.push(`${id}: the key of the successor is wrong`);
    for (const { id: successor } of successors) await mill.jobs.cancel(successor, "raced");
  }
  return findings;
}

async function overHttp(origin: string, id: string): Promise<Answer> {
  const response = await fetch(`${origin}/api/v1/dead-letters/${id}/reprocess`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ notes: "the race" }),
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const answer: any = await response.json();
  return answer;
}
