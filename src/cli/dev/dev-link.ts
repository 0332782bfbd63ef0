/**
 * How a worker talks with the `millrace dev` that has started it. Its jobs are loaded first; it
 * starts when the worker before it has stopped, and stops when the link is cut.
 */
import type { AnyContract } from "../../api/definition.ts";
import { tellLoadedFiles } from "../jobs-file/loaded-files.ts";
import { plainContract, type PlainContract } from "./plain-contract.ts";

/** What the worker tells. */
export type DevWord =
  /** A file that its jobs are made of. */
  | { readonly type: "file"; readonly path: string }
  /** Its jobs are loaded: it may start. */
  | { readonly type: "loaded"; readonly contracts: readonly PlainContract[] }
  | { readonly type: "running"; readonly types: readonly string[] };

/** What `dev` tells. */
export const START = "start";

export interface DevLink {
  /** Resolves when the link is cut. */
  readonly cut: Promise<void>;
  /** Answers whether the worker may start; if not, it is no longer wanted. */
  mayStart(contracts: readonly AnyContract[]): Promise<boolean>;
  running(types: readonly string[]): void;
}

/** The worker's end of the link. To be taken up before the jobs are loaded. */
export function takeUpDevLink(): DevLink {
  tellLoadedFiles((path) => tell({ type: "file", path }));
  const cut = new Promise<void>((resolve) => {
    process.once("disconnect", resolve);
    if (!process.connected) resolve();
  });
  const started = new Promise<void>((resolve) => {
    process.on("message", (word) => {
      if (word === START) resolve();
    });
  });
  return {
    cut,
    mayStart(contracts) {
      tell({ type: "loaded", contracts: contracts.map(plainContract) });
      return Promise.race([started.then(() => true), cut.then(() => false)]);
    },
    running: (types) => tell({ type: "running", types }),
  };
}

function tell(word: DevWord): void {
  if (process.connected) process.send?.(word);
}
