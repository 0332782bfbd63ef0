/** The disk of the file is full for a while. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";
import { diskObstacle } from "../small-disk.ts";

const CHUNK = Buffer.alloc(64 * 1024);
const CRUMB = Buffer.alloc(4 * 1024);

export const diskFull: Fault = {
  name: "disk-full",
  store: "sqlite",
  obstacle: diskObstacle,
  async strike({ disk, leaseMs }, dice) {
    if (disk === null) return 0;
    await sleep(between(dice, 0, 200));
    const ballast = join(disk, "ballast");
    const until = performance.now() + between(dice, 0.2, 0.8) * leaseMs;
    try {
      // What a checkpoint gives back is taken at once.
      while (performance.now() < until) {
        fill(ballast);
        await sleep(20);
      }
    } finally {
      rmSync(ballast, { force: true });
    }
    return 1;
  },
};

/** Writes until nothing more fits. */
function fill(path: string): void {
  const file = openSync(path, "a");
  try {
    for (const piece of [CHUNK, CRUMB]) while (fits(file, piece));
  } finally {
    closeSync(file);
  }
}

function fits(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch {
    return false;
  }
}
