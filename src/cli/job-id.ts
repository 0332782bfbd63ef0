/** The id of a job or a worker on a command line: a whole id, or its first letters. */
import type { OperatorMill } from "./operator-mill.ts";
import { MillraceError } from "../core/errors.ts";
import { idsWithPrefix, parseId, PREFIX_LETTERS_MIN } from "../core/ids.ts";
import { systemClock } from "../lib/system.ts";
import { CommandFailure, EXIT } from "./terminal/exit-codes.ts";
import { ageOf, table } from "./terminal/output.ts";

/** The most ids that are listed when several ids begin with the same letters. */
const LISTED_MAX = 10;
/** Letters that an id could begin with. */
const FEW_LETTERS = new RegExp(`^[0-7][0-9A-TV-Z]{0,${PREFIX_LETTERS_MIN - 2}}$`, "i");

/** The letters that a command needs for a change: more than the ids of a millisecond share. */
const CHANGE_LETTERS_MIN = 12;

/** The id of a job that a command changes: a short text might name another job tomorrow. */
export async function changedJobIdOf(mill: OperatorMill, text: string): Promise<string> {
  refuseShort(text, "job");
  return jobIdOf(mill, text);
}

/** The same for a worker. */
export async function changedWorkerIdOf({ workers }: OperatorMill, text: string): Promise<string> {
  refuseShort(text, "worker");
  const range = parseId(text) === null ? idsWithPrefix(text) : null;
  if (range === null) return text;
  const ids = (await workers.list())
    .map(({ id }) => id)
    .filter((id) => id >= range.from && id <= range.to);
  const [id] = ids;
  if (id === undefined) {
    throw new MillraceError("WORKER_NOT_FOUND", `no id of a worker begins with ${text}`);
  }
  if (ids.length > 1) throw ambiguous(text, ids.slice(0, LISTED_MAX).join("\n"), ids.length);
  return id;
}

function refuseShort(text: string, of: "job" | "worker"): void {
  const letters = text.replace(/^job_/i, "").length;
  const isBeginning = FEW_LETTERS.test(text) || idsWithPrefix(text) !== null;
  if (!isBeginning || letters >= CHANGE_LETTERS_MIN) return;
  throw new CommandFailure(`${text} is too short to change a ${of}.`, {
    hint: `Give at least ${CHANGE_LETTERS_MIN} letters of the id.`,
    exitCode: EXIT.usage,
  });
}

/** A text that is no id, nor the beginning of one, is returned for the caller to refuse. */
export async function jobIdOf(mill: OperatorMill, text: string): Promise<string> {
  if (FEW_LETTERS.test(text)) throw tooShort(text);
  if (parseId(text) !== null || idsWithPrefix(text) === null) return text;
  const ids = await mill.jobs.findIds(text, LISTED_MAX + 1);
  const [id] = ids;
  if (id === undefined) throw new MillraceError("JOB_NOT_FOUND", `no id begins with ${text}`);
  if (ids.length > 1) throw ambiguous(text, await jobTable(mill, ids), ids.length);
  return id;
}

function tooShort(text: string): CommandFailure {
  return new CommandFailure(`${text} is too short for the beginning of an id.`, {
    hint: `Give at least ${PREFIX_LETTERS_MIN} letters of the id.`,
    exitCode: EXIT.usage,
  });
}

/** `listed` shows the first ids. */
function ambiguous(text: string, listed: string, count: number): CommandFailure {
  const more = count > LISTED_MAX ? "\n… and more" : "";
  return new CommandFailure(`${text} is the beginning of several ids.\n${listed}${more}`, {
    hint: "Give more letters of the id.",
    exitCode: EXIT.usage,
  });
}

async function jobTable(mill: OperatorMill, ids: readonly string[]): Promise<string> {
  const rows: string[][] = [];
  for (const id of ids.slice(0, LISTED_MAX)) rows.push(await rowOf(mill, id));
  return table(["ID", "TYPE", "STATE", "AGE"], rows).trimEnd();
}

/** The id may be that of a dead letter whose job has been removed. */
async function rowOf({ jobs }: OperatorMill, id: string): Promise<string[]> {
  try {
    const { type, state, createdAt } = await jobs.get(id);
    return [id, type, state, ageOf(createdAt, systemClock.now())];
  } catch (error) {
    if (!(error instanceof MillraceError && error.code === "JOB_NOT_FOUND")) throw error;
    return [id, "", "removed", ""];
  }
}
