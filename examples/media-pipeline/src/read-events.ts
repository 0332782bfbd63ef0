/** The other end of an event stream: what a browser's EventSource would do with it. */

export interface ServerEvent {
  /** What a reader that was cut off names as the last one that it has. */
  readonly id: string;
  readonly event: string;
  readonly data: any;
}

/** Leaving the loop over it cancels the stream. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) yield* eventsIn(frame);
  }
}

/** None, if the frame has no data: it sets the time between two connections, or is a comment. */
function eventsIn(frame: string): readonly ServerEvent[] {
  const fields = new Map(frame.split("\n").map(fieldOf));
  const data = fields.get("data");
  if (data === undefined) return [];
  return [{ id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) }];
}

function fieldOf(line: string): [name: string, value: string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
