/**
 * Third phase: to the object store, under the hash of the content. A phase that a crash cut off
 * runs again: the same bytes under the same name do no harm.
 */
import { readFile } from "node:fs/promises";
import { HttpError } from "./http-error.ts";
import type { ActiveJob, PhaseContext } from "./phase-handler.ts";
import type { Processed } from "./phase-process.ts";

const PARTS = 5;

export interface Uploaded {
  readonly url: string;
  readonly bytes: number;
}

export async function upload(
  _: ActiveJob,
  ctx: PhaseContext<{ readonly process: Processed }>,
): Promise<Uploaded> {
  const { path, sha256 } = ctx.phaseResult("process");
  const content = await readFile(path);
  const url = `${ctx.tools.objects}/${sha256}.wav`;
  const response = await ctx.tools.fetch(url, {
    method: "PUT",
    body: ReadableStream.from(parts(content, (percent) => ctx.progress(percent))),
    duplex: "half",
    signal: ctx.signal,
  });
  // Unread, an answer would keep its connection.
  await response.body?.cancel();
  if (!response.ok) throw new HttpError(`PUT ${url}`, response.status);
  return { url, bytes: content.length };
}

async function* parts(
  content: Uint8Array,
  tell: (percent: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const size = Math.ceil(content.length / PARTS);
  for (let part = 0; part < PARTS; part += 1) {
    if (part > 0) await tell((part * 100) / PARTS);
    yield content.subarray(part * size, (part + 1) * size);
  }
}
