import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import type { WakeUp } from "../../store.ts";
import { Notifier } from "./notifier.ts";

const POLL_MS = 25;

/** A clock whose polls never come: only what follows a write to the log is left. */
const withoutPolls: Clock = {
  ...systemClock,
  after: (ms, wake) => (ms < POLL_MS ? systemClock.after(ms, wake) : () => {}),
};

/** A clock on which no time passes. */
const withoutTimers: Clock = { ...systemClock, after: () => () => {} };

/** Two connections to one file, as of two processes. */
function openFile() {
  const folder = mkdtempSync(join(tmpdir(), "millrace-notifier-"));
  const path = join(folder, "jobs.db");
  const [own, other] = [new DatabaseSync(path), new DatabaseSync(path)];
  own.exec("PRAGMA journal_mode = WAL; CREATE TABLE note (text)");
  return {
    path,
    own,
    other,
    wal: `${path}-wal`,
    [Symbol.dispose]() {
      own.close();
      other.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe("a notifier", () => {
  test("is told of a commit of another process by the log, without a poll", async () => {
    using file = openFile();
    const notifier = new Notifier(file.own, withoutPolls, file.wal);
    const woken = new Promise<WakeUp>((resolve) => notifier.watch(resolve));

    file.other.exec("INSERT INTO note VALUES ('news')");

    expect(await woken).toBe("work");
    notifier.close();
  });

  test("is told of every commit, also right after another one", async () => {
    using file = openFile();
    const notifier = new Notifier(file.own, withoutPolls, file.wal);
    for (let round = 0; round < 20; round += 1) {
      const { promise, resolve } = Promise.withResolvers<WakeUp>();
      const stop = notifier.watch(resolve);
      const keep = notifier.watch(() => {});

      file.other.exec("INSERT INTO note VALUES ('news')");

      expect(await promise).toBe("work");
      stop();
      keep();
    }
    notifier.close();
  });

  test("is told by the process that commits when the commit is visible", async () => {
    using file = openFile();
    // Only touched, never written: a write comes before its commit is visible.
    const log = `${file.path}-touched`;
    writeFileSync(log, "");
    const notifier = new Notifier(file.own, withoutTimers, log);
    const woken = new Promise<WakeUp>((resolve) => notifier.watch(resolve));

    file.other.exec("INSERT INTO note VALUES ('news')");
    new Notifier(file.other, systemClock, log).committed("ready");

    expect(await woken).toBe("work");
    notifier.close();
  });

  test("is told at once of a commit that follows a write for nothing", async () => {
    using file = openFile();
    const log = `${file.path}-touched`;
    writeFileSync(log, "");
    const written = Promise.withResolvers<void>();
    const clock: Clock = {
      ...withoutTimers,
      // The first pause after the check that the write has caused.
      after: (ms) => (ms === 1 && written.resolve(), () => {}),
    };
    const notifier = new Notifier(file.own, clock, log);
    const woken = new Promise<WakeUp>((resolve) => notifier.watch(resolve));
    appendFileSync(log, "of another commit");
    await written.promise;

    file.other.exec("INSERT INTO note VALUES ('news')");
    new Notifier(file.other, systemClock, log).committed("final");

    expect(await woken).toBe("work");
    notifier.close();
  });

  test("is not woken by commits of its own connection", async () => {
    using file = openFile();
    const notifier = new Notifier(file.own, systemClock, file.wal);
    const wakeUps: WakeUp[] = [];
    notifier.watch((wakeUp) => wakeUps.push(wakeUp));

    for (let round = 0; round < 20; round += 1) {
      file.own.exec("INSERT INTO note VALUES ('own')");
      await new Promise((resolve) => systemClock.after(5, () => resolve(null)));
    }

    expect(wakeUps).toEqual([]);
    notifier.close();
  });

  test("finds a commit by its poll where the log cannot be watched", async () => {
    using file = openFile();
    const notifier = new Notifier(file.own, systemClock, join(file.path, "nowhere", "jobs.db-wal"));
    const woken = new Promise<WakeUp>((resolve) => notifier.watch(resolve));

    file.other.exec("INSERT INTO note VALUES ('news')");

    expect(await woken).toBe("work");
    notifier.close();
  });
});
