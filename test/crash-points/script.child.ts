/**
 * Plays a script, and writes the number of each step to a log outside the database once it was
 * answered: `script.child.ts FOLDER ACKS CHECKPOINT_PAGES TEMPER WEAKNESS SCRIPT`.
 *
 * A weakness breaks a promise on purpose, to show that the checks notice.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { play, SCRIPTS } from "./script.ts";

const [folder = "", acks = "", checkpointPages = "", ...manner] = process.argv.slice(2);
const [temper, weakness, script] = manner;
configureSqlite();
if (weakness === "late-feed") commitFeedApart();
await playAndTell();

/** How often SQLite folds its log into the database, and whether it waits for the disk. */
function configureSqlite(): void {
  const levels: Readonly<Record<string, string>> = { "sync-off": "OFF", "sync-normal": "NORMAL" };
  const level = levels[weakness ?? ""] ?? "FULL";
  const pragmas = `synchronous = ${level}; PRAGMA wal_autocheckpoint = ${checkpointPages}`;
  // oxlint-disable-next-line typescript/unbound-method -- it is called with a `this` below
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function execute(sql) {
    exec.call(this, sql.replace("synchronous = FULL", pragmas));
  };
}

/** What happened to the jobs is committed, and only then what the feed says about it. */
function commitFeedApart(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with a `this` below
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function prepareApart(...args) {
    const statement = prepare.apply(this, args);
    const run = statement.run.bind(statement);
    if (args[0] === "RELEASE piece") {
      statement.run = () => {
        const answer = run();
        this.exec("COMMIT; BEGIN IMMEDIATE");
        return answer;
      };
    }
    return statement;
  };
}

async function playAndTell(): Promise<void> {
  const log = openSync(acks, "a");
  let told = 0;
  const tell = (): void => void writeSync(log, `${(told += 1)}\n`);
  // One ahead: what is told was not even asked for.
  if (weakness === "early-ack") tell();
  const options = {
    temper: temper === "stubborn" ? temper : undefined,
    script: SCRIPTS.find((name) => name === script),
  } as const;
  for await (const _ of play(folder, options)) tell();
  closeSync(log);
}
