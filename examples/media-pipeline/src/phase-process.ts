/** Second phase: one voice, 16 kHz, as loud as it gets without clipping. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { downmix, normalisePeak, resample } from "./audio.ts";
import { mediaFile, writeWhole } from "./media-folder.ts";
import type { Downloaded } from "./phase-download.ts";
import type { ActiveJob, PhaseContext } from "./phase-handler.ts";
import { decodeWav, encodeWav } from "./wav.ts";

const RATE = 16_000;

export interface Processed {
  readonly path: string;
  readonly sha256: string;
  readonly seconds: number;
}

export async function normalise(
  job: ActiveJob,
  ctx: PhaseContext<{ readonly download: Downloaded }>,
): Promise<Processed> {
  // Between two steps the event loop turns, so that other jobs and a cancel get their share.
  const step = async (percent: number): Promise<void> => {
    await ctx.progress(percent);
    ctx.signal.throwIfAborted();
  };
  const source = decodeWav(await readFile(ctx.phaseResult("download").path));
  await step(25);
  const mono = downmix(source.channels);
  const slow = resample(mono, { from: source.rate, to: RATE });
  await step(75);
  const content = encodeWav({ rate: RATE, channels: [normalisePeak(slow)] });

  const path = await mediaFile(ctx.tools.folder, job, "processed.wav");
  await writeWhole(path, content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, sha256, seconds: slow.length / RATE };
}
