/** Listens to the events of a server, as `mill.on` does. */
import type { Events } from "../api/events.ts";
import { wait } from "../core/clock.ts";
import { systemClock } from "../lib/system.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

const RETRY_MS = 2_000;

/** The answered function stops. After a lost connection the listener misses no event. */
export function listenTo<E extends keyof Events>(
  calls: ServerCalls,
  event: E,
  listener: (event: Events[E]) => unknown,
  closing: AbortSignal,
): () => void {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, closing]);
  void follow(calls, event, signal, (data) => void listener(data));
  return () => over.abort();
}

async function follow(
  calls: ServerCalls,
  event: string,
  signal: AbortSignal,
  tell: (data: any) => void,
): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      const query = { event: [event], snapshot: after === undefined ? false : undefined, after };
      const response = await calls.open("/api/v1/events", { query, signal });
      for await (const { id, name, data } of messagesOf(response)) {
        after = id;
        if (name === event) tell(withDates(data.data));
      }
    } catch {
      // A server that restarts is asked again; commands report its errors by their own calls.
    }
    if (!signal.aborted) await wait(systemClock, RETRY_MS);
  }
}

interface ServerMessage {
  readonly id: string;
  readonly name: string;
  readonly data: any;
}

/** The messages of a stream of server-sent events. */
export async function* messagesOf(response: Response): AsyncGenerator<ServerMessage> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const fields = new Map(frame.split("\n").map((line) => fieldOf(line)));
      const data = fields.get("data");
      if (data === undefined) continue;
      yield { id: fields.get("id") ?? "", name: fields.get("event") ?? "", data: JSON.parse(data) };
    }
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
