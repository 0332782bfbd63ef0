/** The histories of all scripts, as they are without faults. */
import { readHistory, type History } from "./history.ts";
import { SCRIPTS, type Script } from "./script.ts";

export type Histories = ReadonlyMap<Script, History>;

export async function readHistories(): Promise<Histories> {
  const histories = new Map<Script, History>();
  for (const script of SCRIPTS) histories.set(script, await readHistory(script));
  return histories;
}

export function historyIn(histories: Histories, script: Script): History {
  const history = histories.get(script);
  if (history === undefined) throw new Error(`the script of ${script} was not read`);
  return history;
}
