/**
 * The embedded store after a loss of power. A sample: the show `power-loss` draws many more images.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";
import { momentsOf } from "./disk.ts";
import { historyIn, readHistories, type Histories } from "./histories.ts";
import { imagesOf, judgeImages } from "./images.ts";
import { obstacle, operationsOf, record } from "./recording.ts";
import type { Weakness } from "./recording.ts";
import { SCRIPTS } from "./script.ts";
import type { Script } from "./script.ts";

const IMAGES = sized({ smoke: 12, short: 66, full: 66 });
const WEAK_IMAGES = 20;
const SEED = 2026;

const reason = obstacle();
let histories: Histories;

beforeAll(async () => {
  histories = await readHistories();
});

describe("the embedded store after a loss of power", () => {
  test.for(SCRIPTS)(
    "has what was acknowledged as durable in the script of %s, each step as a whole (I18)",
    async (script, context) => {
      context.skip(reason !== null, reason ?? "");
      const { judged, violations } = await loseThePower(script, IMAGES);
      expect(violations).toEqual([]);
      expect(judged).toBe(IMAGES);
    },
  );
});

describe("the checks of power loss", () => {
  test.for(["sync-normal", "sync-off"] as const)(
    "find a store that does not wait for the disk: %s",
    async (weakness, context) => {
      context.skip(reason !== null, reason ?? "");
      const { violations } = await loseThePower("work", WEAK_IMAGES, weakness);
      expect(violations).not.toEqual([]);
    },
  );
});

async function loseThePower(
  script: Script,
  wanted: number,
  weakness?: Weakness,
): Promise<{ readonly judged: number; readonly violations: readonly string[] }> {
  const moments = momentsOf(operationsOf(await record({ script, weakness })));
  const images = imagesOf(moments, { seed: SEED, randomPerMoment: 5 });
  const { judged, violations } = await judgeImages(images, historyIn(histories, script), {
    wanted,
  });
  return { judged: [...judged.values()].reduce((left, right) => left + right, 0), violations };
}
