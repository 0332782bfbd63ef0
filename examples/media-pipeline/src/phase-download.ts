/** First phase: from a web server into the folder of the job. */
import { NonRetryableError } from "millrace";
import { HttpError } from "./http-error.ts";
import { mediaFile, writeWhole } from "./media-folder.ts";
import type { ActiveJob, PhaseContext } from "./phase-handler.ts";

/** A file is held in memory as a whole by the next phase, a few times over. */
const BYTES_MAX = 20_000_000;

export interface Downloaded {
  readonly path: string;
  readonly bytes: number;
}

export async function download(job: ActiveJob, ctx: PhaseContext<{}>): Promise<Downloaded> {
  const { fetch, folder } = ctx.tools;
  const { source } = job.data;
  // Compressed, the length that is announced would not be the length that arrives.
  const headers = { "accept-encoding": "identity" };
  const response = await fetch(source, { headers, signal: ctx.signal });
  if (!response.ok || response.body === null) {
    // Unread, an answer would keep its connection.
    await response.body?.cancel();
    throw new HttpError(`GET ${source}`, response.status);
  }
  const bytes = lengthOf(source, response);
  const path = await mediaFile(folder, job, "source.wav");
  const tellHalf = (): Promise<void> => ctx.progress(50);
  await writeWhole(path, halfTold(response.body, bytes, tellHalf));
  return { path, bytes };
}

function lengthOf(source: string, { headers }: Response): number {
  const bytes = Number(headers.get("content-length") ?? Number.NaN);
  if (bytes > 0 && bytes <= BYTES_MAX) return bytes;
  throw new NonRetryableError(`${source} must announce its length, of up to ${BYTES_MAX} bytes`);
}

/** Passes the chunks on, and tells when half of them is there. */
async function* halfTold(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
  tell: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of chunks) {
    const isBefore = received < bytes / 2;
    received += chunk.length;
    if (isBefore && received >= bytes / 2) await tell();
    yield chunk;
  }
}
