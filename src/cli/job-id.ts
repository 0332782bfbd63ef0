/** The id of a job on a command line: a whole id, or its first letters. */
import type { Millrace } from "../api/client.ts";
import { MillraceError } from "../core/errors.ts";
import { idsWithPrefix, parseId, PREFIX_LETTERS_MIN } from "../core/ids.ts";
import { systemClock } from "../lib/system.ts";
import { CommandFailure, EXIT } from "./terminal/exit-codes.ts";
import { ageOf, table } from "./terminal/output.ts";

/** The most jobs that are listed when several ids begin with the same letters. */
const LISTED_MAX = 10;
/** Letters that an id could begin with. */
const FEW_LETTERS = new RegExp(`^[0-7][0-9A-TV-Z]{0,${PREFIX_LETTERS_MIN - 2}}$`, "i");

/** The letters that a command needs to change a job: more than the ids of a millisecond share. */
const CHANGE_LETTERS_MIN = 12;

/** The id of a job that a command changes: a short text might name another job tomorrow. */
export async function changedJobIdOf(mill: Millrace, text: string): Promise<string> {
  const letters = text.replace(/^job_/i, "").length;
  const isBeginning = FEW_LETTERS.test(text) || idsWithPrefix(text) !== null;
  if (isBeginning && letters < CHANGE_LETTERS_MIN) {
    throw new CommandFailure(`${text} is too short to change a job.`, {
      hint: `Give at least ${CHANGE_LETTERS_MIN} letters of the id.`,
      exitCode: EXIT.usage,
    });
  }
  return jobIdOf(mill, text);
}

/** A text that is no id, nor the beginning of one, is returned for the caller to refuse. */
export async function jobIdOf(mill: Millrace, text: string): Promise<string> {
  if (FEW_LETTERS.test(text)) throw tooShort(text);
  if (parseId(text) !== null || idsWithPrefix(text) === null) return text;
  const ids = await mill.jobs.findIds(text, LISTED_MAX + 1);
  const [id] = ids;
  if (id === undefined) throw new MillraceError("JOB_NOT_FOUND", `no id begins with ${text}`);
  if (ids.length > 1) throw await ambiguous(mill, text, ids);
  return id;
}

function tooShort(text: string): CommandFailure {
  return new CommandFailure(`${text} is too short for the beginning of an id.`, {
    hint: `Give at least ${PREFIX_LETTERS_MIN} letters of the id.`,
    exitCode: EXIT.usage,
  });
}

async function ambiguous(
  mill: Millrace,
  text: string,
  ids: readonly string[],
): Promise<CommandFailure> {
  const rows: string[][] = [];
  for (const id of ids.slice(0, LISTED_MAX)) rows.push(await rowOf(mill, id));
  const more = ids.length > LISTED_MAX ? "… and more\n" : "";
  const jobs = `${table(["ID", "TYPE", "STATE", "AGE"], rows)}${more}`.trimEnd();
  return new CommandFailure(`${text} is the beginning of several ids.\n${jobs}`, {
    hint: "Give more letters of the id.",
    exitCode: EXIT.usage,
  });
}

/** The id may be that of a dead letter whose job has been removed. */
async function rowOf({ jobs }: Millrace, id: string): Promise<string[]> {
  try {
    const { type, state, createdAt } = await jobs.get(id);
    return [id, type, state, ageOf(createdAt, systemClock.now())];
  } catch (error) {
    if (!(error instanceof MillraceError && error.code === "JOB_NOT_FOUND")) throw error;
    return [id, "", "removed", ""];
  }
}
