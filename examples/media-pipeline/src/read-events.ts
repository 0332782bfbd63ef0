/** The other end of an event stream: what a browser's EventSource would do with it. */

export interface ServerEvent {
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
    for (const frame of frames) yield eventOf(frame);
  }
}

function eventOf(frame: string): ServerEvent {
  const [event = "", data = ""] = frame.split("\n").map((line) => line.replace(/^\w+: /, ""));
  return { event, data: JSON.parse(data) };
}
