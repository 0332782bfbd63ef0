/** A disk that fails under a backup. Here, because elsewhere tests share their modules. */
import { fsyncSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";

vi.mock("node:fs", { spy: true });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-backup-"));
});
afterEach(() => {
  vi.resetAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe("a backup", () => {
  test("leaves the part alone that another process has begun anew", async () => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");
    vi.mocked(fsyncSync).mockImplementationOnce(() => {
      renameSync(`${copy}.part`, join(folder, "replaced"));
      writeFileSync(`${copy}.part`, "of another process");
    });

    await expect(store.backup(copy)).rejects.toMatchObject({ code: "BACKUP_EXISTS" });
    expect(filesOfCopy()).toEqual(["copy.db.part"]);
    await store.close();
  });

  test.for([
    ["copy", 0],
    ["folder", 1],
  ] as const)("whose %s cannot be synced fails and can be made again", async ([, before]) => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");
    for (let sync = 0; sync < before; sync += 1) {
      vi.mocked(fsyncSync).mockImplementationOnce(() => {});
    }
    vi.mocked(fsyncSync).mockImplementationOnce(() => {
      throw diskError("fsync");
    });

    await expect(store.backup(copy)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(filesOfCopy()).toEqual([]);
    await store.backup(copy);
    expect(filesOfCopy()).toEqual(["copy.db"]);
    await store.close();
  });

  test("tells why it failed, also when it cannot clean up", async () => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");
    vi.mocked(fsyncSync).mockImplementationOnce(() => {
      vi.mocked(rmSync).mockImplementationOnce(() => {
        throw diskError("rm");
      });
      throw diskError("fsync");
    });

    await expect(store.backup(copy)).rejects.toMatchObject({
      code: "STORE_FAILED",
      cause: { syscall: "fsync" },
    });
    expect(filesOfCopy()).toEqual(["copy.db.part"]);
    await store.close();
  });

  async function openStore(name: string) {
    const store = makeSqliteStore({ path: join(folder, name) });
    await store.open();
    return store;
  }

  function filesOfCopy(): readonly string[] {
    return readdirSync(folder).filter((name) => name.startsWith("copy"));
  }

  function diskError(syscall: string): Error {
    return Object.assign(new Error(`EIO: i/o error, ${syscall}`), { code: "EIO", syscall });
  }
});
