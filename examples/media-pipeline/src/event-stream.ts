/**
 * The life of the queue, or of one job, as server-sent events: the body of a response of type
 * `text/event-stream`. It only reads: whether a client follows a job changes nothing about it.
 *
 * The ids of its messages are places in the feed of the file. A reader that was cut off, also by a
 * restart of the process, names the last one that it has, and gets what comes behind it.
 */
import type { JobView, Millrace, StreamMessage } from "millrace";
import { MEDIA } from "./media-pipeline.ts";
import type { JobRecord } from "./job-record.ts";

export interface EventStreamOptions {
  /** Only this job. Default: the whole queue. */
  readonly job?: string;
  /** Whether the state of now is written first. Default: true, and false with `lastEventId`. */
  readonly snapshot?: boolean;
  /** How often a `ping` keeps the connection alive. */
  readonly pingMs?: number;
  /** The id of the last message that the reader has. */
  readonly lastEventId?: string;
}

/** What the stream reads from. */
export interface EventSource {
  readonly mill: Pick<Millrace, "stream">;
  /** A job in the words of this queue. */
  readonly record: (job: JobView) => Promise<JobRecord>;
}

const PING_MS_DEFAULT = 15_000;

/** The queue may still be opening, so the source comes as a promise. */
export function createEventStream(
  source: Promise<EventSource>,
  options: EventStreamOptions = {},
): ReadableStream<Uint8Array> {
  // The stream may never be read, and its reader gets the rejection.
  const begun = source.then(({ mill, record }) => ({ record, reader: readerOf(mill, options) }));
  begun.catch(() => {});
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { reader, record } = await begun;
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(await frameOf(value, options, record));
      },
      // Removes every listener and the timer of the stream below.
      cancel: async (reason) => (await begun).reader.cancel(reason),
    },
    // Nothing is read before the client asks for it: a slow reader costs nothing.
    { highWaterMark: 0 },
  );
}

function readerOf(
  mill: Pick<Millrace, "stream">,
  { job, snapshot, pingMs = PING_MS_DEFAULT, lastEventId: after }: EventStreamOptions,
): ReadableStreamDefaultReader<StreamMessage> {
  const stream = mill.stream({
    ...(job === undefined ? { type: MEDIA } : { job }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(after === undefined ? {} : { after }),
    ping: pingMs,
  });
  return stream.getReader();
}

async function frameOf(
  message: StreamMessage,
  { job }: EventStreamOptions,
  record: EventSource["record"],
): Promise<Uint8Array> {
  const { id, type } = message;
  switch (type) {
    case "snapshot": {
      const jobs = await Promise.all(message.jobs.map(record));
      return encoded(id, type, job === undefined ? { jobs } : jobs[0]);
    }
    case "event":
      return encoded(id, message.event, message.data);
    case "reset":
    case "ping":
      return encoded(id, type, {});
  }
}

function encoded(id: string, event: string, told: unknown): Uint8Array {
  const data = JSON.stringify(told ?? null);
  return new TextEncoder().encode(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
}
