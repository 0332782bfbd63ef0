/**
 * A promise that a handler left behind, and that is rejected when nobody holds it any more. Node
 * would end the process for it, and with it every other job that runs here; while a worker runs, it
 * is logged with its job instead.
 *
 * Whose it is, the context in which the listener is called tells. On Node 24 that is where the
 * promise was rejected, on Node 22 where it was made. The two differ for a bare promise alone that
 * code outside the handler rejects: Node 24 counts it as foreign. What is awaited, or made by an
 * async function, belongs to its handler on both.
 *
 * Every other rejection ends as if nobody listened here: if nobody else does, the listener steps
 * aside and rejects once more with the same error, so that Node does what it has been told to do.
 */
import { runHere } from "../../jobs/async-context.ts";
import { soon } from "../../lib/system.ts";

const EVENT = "unhandledRejection";
/** In these modes Node acts the same whether anybody listens or not. */
const DEAF_MODES: readonly unknown[] = ["none", "strict", "warn"];

/** Workers of this process that run now. */
let workers = 0;

/** Listens for one more worker; one listener serves them all. Answers how to end it. */
export function listenForRejections(): () => void {
  workers += 1;
  listen();
  return () => {
    workers -= 1;
    if (workers === 0) process.off(EVENT, heard);
  };
}

function listen(): void {
  if (workers > 0 && !process.listeners(EVENT).includes(heard)) process.on(EVENT, heard);
}

function heard(error: unknown): void {
  const run = runHere();
  if (run?.rejected !== undefined) {
    run.rejected(error);
    return;
  }
  const isOthers = process.listenerCount(EVENT) > 1;
  // Not at once: what else was rejected in this turn may be a handler's.
  if (!isOthers && nodeAsksFirst()) process.nextTick(rejectAgain, error);
}

/** Whether Node leaves a rejection to its listeners, and acts only when there is none. */
function nodeAsksFirst(): boolean {
  const options = [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv].join(" ");
  const modes = [...options.matchAll(/--unhandled-rejections[= ]([\w-]+)/g)];
  return !DEAF_MODES.includes(modes.at(-1)?.[1]);
}

function rejectAgain(reason: unknown): void {
  process.off(EVENT, heard);
  void Promise.reject(reason);
  // Whoever handles uncaught exceptions has kept the process alive, and the workers with it.
  soon(listen);
}
