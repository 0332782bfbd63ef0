/** What a process that was forked says next. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Rejects when it ends instead. */
export async function wordOf(child: ChildProcess): Promise<any> {
  const listening = new AbortController();
  const { signal } = listening;
  const gone = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`a process ended with ${code} and had not said a word`);
  });
  const said = once(child, "message", { signal });
  try {
    const [word] = await Promise.race([said, gone]);
    return word;
  } finally {
    listening.abort();
    await Promise.allSettled([said, gone]);
  }
}
