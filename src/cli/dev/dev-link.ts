/**
 * The messages between `millrace dev` and its worker process. The worker loads its jobs first,
 * starts when the previous worker has stopped, and stops when the link is closed.
 */
import type { AnyContract } from "../../api/definition.ts";
import { reportLoadedFiles } from "../jobs-file/loaded-files.ts";
import { plainContract, type PlainContract } from "./plain-contract.ts";

/** A message of the worker. */
export type DevMessage =
  /** A file that the jobs import. */
  | { readonly type: "file"; readonly path: string }
  /** The jobs are loaded, and the worker can start. */
  | { readonly type: "loaded"; readonly contracts: readonly PlainContract[] }
  | { readonly type: "running"; readonly types: readonly string[] };

/** The message of `dev` that starts the worker. */
export const START = "start";

export interface DevLink {
  /** Resolves when the link is closed. */
  readonly cut: Promise<void>;
  /** Resolves with true when the worker may start, with false when the link is closed first. */
  mayStart(contracts: readonly AnyContract[]): Promise<boolean>;
  running(types: readonly string[]): void;
}

/** Opens the worker's end of the link. Must be called before the jobs are loaded. */
export function openDevLink(): DevLink {
  reportLoadedFiles((path) => send({ type: "file", path }));
  const cut = new Promise<void>((resolve) => {
    process.once("disconnect", resolve);
    if (!process.connected) resolve();
  });
  const started = new Promise<void>((resolve) => {
    process.on("message", (message) => {
      if (message === START) resolve();
    });
  });
  return {
    cut,
    mayStart(contracts) {
      send({ type: "loaded", contracts: contracts.map(plainContract) });
      return Promise.race([started.then(() => true), cut.then(() => false)]);
    },
    running: (types) => send({ type: "running", types }),
  };
}

function send(message: DevMessage): void {
  if (process.connected) process.send?.(message);
}
