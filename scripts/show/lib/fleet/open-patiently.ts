/** Opens a store as a supervisor would, who starts a process again that could not reach it. */
import { MillraceError, openMillrace } from "millrace";
import type { Millrace, OpenOptions } from "millrace";
import { until } from "../until.ts";

const OPEN_MS_MAX = 30_000;

export function openPatiently(url: string, options: OpenOptions = {}): Promise<Millrace> {
  return until("the store can be opened", OPEN_MS_MAX, async () => {
    try {
      return await openMillrace(url, options);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      console.error(String(error));
      return null;
    }
  });
}
