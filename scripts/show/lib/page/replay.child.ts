/** Clients of `replay`: each holds one stream and repeats the requests of a page, with its gaps. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Recorded } from "./recorded.ts";

interface Task {
  readonly origin: string;
  readonly token: string;
  readonly clients: number;
  readonly requests: readonly Recorded[];
}

const TELL_MS = 200;
let answered = 0;

process.once("disconnect", () => process.exit(0));
process.once("message", (task: Task) => {
  setInterval(() => process.send?.(answered), TELL_MS);
  for (let client = 0; client < task.clients; client += 1) {
    void holdStream(task);
    void repeat(task, client / task.clients);
  }
});

async function holdStream({ origin, token }: Task): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/changes`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok || answer.body === null) throw new Error(`the stream answers ${answer.status}`);
  for await (const _ of answer.body);
}

/** The clients begin at different requests, as people who opened the page at different times. */
async function repeat({ origin, token, requests }: Task, share: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let index = Math.floor(share * requests.length); ; index += 1) {
    const request = requests[index % requests.length];
    const next = requests[(index + 1) % requests.length];
    if (request === undefined || next === undefined) return;
    const answer = await fetch(origin + request.path, { headers });
    await answer.arrayBuffer();
    if (answer.status >= 500) throw new Error(`${request.path} answers ${answer.status}`);
    answered += 1;
    await sleep(Math.max(0, next.atMs - request.atMs));
  }
}
