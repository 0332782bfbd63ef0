/**
 * Rebuilds what a loss of power may leave of the embedded store, and opens it: everything synced is
 * there, and of the rest all, nothing, a beginning, all but one, one alone, torn writes, or what
 * the dice say. What was acknowledged as durable must be there, every step as a whole.
 *
 *     node scripts/show/power-loss.ts [--images 2000] [--seed 1]
 *
 * Each of the three scripts is recorded three times, with the log folded into the database seldom
 * and often, and `--images` are judged of each recording. A store that does not wait for the disk
 * must be found out.
 */
import { momentsOf } from "../../test/crash-points/disk.ts";
import { readHistory } from "../../test/crash-points/history.ts";
import type { History } from "../../test/crash-points/history.ts";
import { imagesOf, judgeImages } from "../../test/crash-points/images.ts";
import type { ImageCount } from "../../test/crash-points/images.ts";
import { obstacle, operationsOf, record } from "../../test/crash-points/recording.ts";
import type { Play } from "../../test/crash-points/recording.ts";
import { SCRIPTS } from "../../test/crash-points/script.ts";
import { numbersFrom } from "./lib/options.ts";
import { progress } from "./lib/progress.ts";

const options = numbersFrom("power-loss.ts", { images: 2_000, seed: 1 });
/** SQLite's own number, the number of the other tests, and one that meets nearly every commit. */
const CHECKPOINT_PAGES = [1_000, 40, 10];
const WEAK_IMAGES = 100;
const VIOLATIONS_SHOWN = 10;

const reason = obstacle();
if (reason === null) await show();
else console.log(`not shown: ${reason}`);

async function show(): Promise<void> {
  let sound = true;
  for (const script of SCRIPTS) {
    const history = await readHistory(script);
    const relaxed = history.steps.filter(({ promise }) => promise === "relaxed");
    const names = relaxed.map(({ name }) => name).join(", ") || "nothing";
    console.log(`script of ${script}; not promised to outlive the power: ${names}`);
    for (const checkpointPages of CHECKPOINT_PAGES) {
      const name = `${script}, checkpoint every ${checkpointPages} pages`;
      const { violations } = await judgePlay(name, { checkpointPages }, options.images, history);
      for (const violation of violations.slice(0, VIOLATIONS_SHOWN)) console.log(`  ${violation}`);
      sound &&= violations.length === 0;
    }
    for (const weakness of ["sync-normal", "sync-off"] as const) {
      const name = `${script}, planted ${weakness}`;
      const { violations } = await judgePlay(name, { weakness }, WEAK_IMAGES, history);
      console.log(`  ${violations[0] ?? "was not noticed"}`);
      sound &&= violations.length > 0;
    }
  }
  console.log(sound ? "sound" : "VIOLATED");
  if (!sound) process.exitCode = 1;
}

async function judgePlay(
  name: string,
  play: Omit<Play, "stage" | "script">,
  wanted: number,
  history: History,
): Promise<ImageCount> {
  const moments = momentsOf(operationsOf(await record({ ...play, script: history.script })));
  const randomPerMoment = Math.ceil(wanted / moments.length);
  const images = imagesOf(moments, { seed: options.seed, randomPerMoment });
  const count = await judgeImages(images, history, { wanted, tell: progress(name, wanted) });
  const kinds = [...count.judged].map(([kind, number]) => `${number} ${kind}`).join(", ");
  const sum = [...count.judged.values()].reduce((left, right) => left + right, 0);
  console.log(
    `${name}: ${moments.length} moments, ${sum} images (${kinds}), ` +
      `${count.violations.length} violations`,
  );
  return count;
}
