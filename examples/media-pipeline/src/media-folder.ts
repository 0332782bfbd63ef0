/**
 * The files of a job, which only its own phases write.
 *
 * The folder is named after the correlation of the job, because a retry of a failed job is a new
 * job of the same correlation: it keeps the results of finished phases, and so their files.
 */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobView, Millrace } from "millrace";

interface Owner {
  readonly correlationId: string;
}

/** Where a file of this job lies. Makes the folder around it. */
export async function mediaFile(folder: string, job: Owner, name: string): Promise<string> {
  const own = join(folder, job.correlationId);
  await mkdir(own, { recursive: true });
  return join(own, name);
}

/** All of the file or nothing of it, also when the process dies meanwhile. */
export async function writeWhole(
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  await writeFile(`${path}.part`, content);
  await rename(`${path}.part`, path);
}

/** Removes the files of a job, unless another job of its correlation may still want them. */
export async function removeMedia(mill: Millrace, folder: string, job: JobView): Promise<void> {
  const { correlationId } = job;
  const { jobs } = await mill.jobs.list({ correlationId, limit: 2 });
  if (jobs.some(({ id }) => id !== job.id)) return;
  await rm(join(folder, correlationId), { recursive: true, force: true });
}
