/** A disk of its own for one file, small enough to be filled: a tmpfs, where it can be mounted. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIZE = "64m";

export interface SmallDisk extends Disposable {
  readonly path: string;
}

/** Null where this user may not mount. */
export function openSmallDisk(): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), "millrace-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "millrace", path];
  if (spawnSync("/bin/mount", options).status !== 0) {
    rmdirSync(path);
    return null;
  }
  const unmount = (): void => {
    spawnSync("/bin/umount", ["--lazy", path]);
    rmdirSync(path);
  };
  process.once("exit", unmount);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", unmount);
      unmount();
    },
  };
}

export function diskObstacle(): string | null {
  const disk = openSmallDisk();
  if (disk === null) return "no small disk can be mounted by this user";
  disk[Symbol.dispose]();
  return null;
}
