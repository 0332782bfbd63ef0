/** Reads server-sent events as tests see them. */

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
