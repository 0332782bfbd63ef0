/** Concurrent requests with one Idempotency-Key, through two servers on one store. */
import { TOKEN, startServer } from "./server-process.ts";

export interface RaceOptions {
  readonly rounds: number;
  /** Concurrent requests of a round. */
  readonly requests: number;
}

export interface RaceReport {
  readonly rounds: number;
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What went wrong, one line each. */
  readonly findings: readonly string[];
  readonly ms: number;
}

interface Answer {
  readonly status: number;
  readonly id: string;
  readonly isReplayed: boolean;
}

export async function idempotencyRace(
  url: string,
  { rounds, requests }: RaceOptions,
): Promise<RaceReport> {
  const startedAt = performance.now();
  await using first = await startServer({ url, port: 0 });
  await using second = await startServer({ url, port: 0 });
  const origins = [first.origin, second.origin];
  const statuses: Record<string, number> = {};
  const findings: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Every other key is quoted, as the standard wants it.
    const key = round % 2 === 0 ? `"round ${round}"` : `round-${round}`;
    const answers = await Promise.all(
      Array.from({ length: requests }, (_, n) => post(origins[n % 2]!, key, { round })),
    );
    const other = await post(origins[round % 2]!, key, { round: -1 });
    for (const { status } of [...answers, other]) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    findings.push(...faultsOf(answers, other).map((fault) => `round ${round}: ${fault}`));
  }
  const jobs = await countOf(first.origin);
  if (jobs !== rounds) findings.push(`${jobs} jobs after ${rounds} rounds`);
  return { rounds, requests, statuses, findings, ms: performance.now() - startedAt };
}

function faultsOf(answers: readonly Answer[], other: Answer): readonly string[] {
  const ids = new Set(answers.map(({ id }) => id));
  const created = answers.filter(({ status, isReplayed }) => status === 201 && !isReplayed);
  const replayed = answers.filter(({ status, isReplayed }) => status === 200 && isReplayed);
  return [
    ...(ids.size === 1 ? [] : [`${ids.size} jobs were named`]),
    ...(created.length === 1 ? [] : [`${created.length} answers say that they created the job`]),
    ...(replayed.length === answers.length - 1 ? [] : [`${replayed.length} answers are replays`]),
    ...(other.status === 422 ? [] : [`another body was answered with ${other.status}`]),
  ];
}

async function post(origin: string, key: string, payload: object): Promise<Answer> {
  const response = await fetch(`${origin}/api/v1/jobs`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify({ type: "raced", payload }),
  });
  const { id = "none" }: any = await response.json();
  const { status, headers } = response;
  return { status, id, isReplayed: headers.get("idempotency-replayed") === "true" };
}

/** The jobs of all states. */
async function countOf(origin: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${origin}/api/v1/overview`, { headers });
  const { states }: { states: readonly { count: number }[] } = JSON.parse(await response.text());
  return states.reduce((sum, { count }) => sum + count, 0);
}
