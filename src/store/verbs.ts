/** The names of the port's verbs, for store wrappers and failpoints. */
import type { JobStore } from "./store.ts";

/** A member of the port that answers with a promise. */
export type Verb = {
  [Name in keyof JobStore]-?: JobStore[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof JobStore];

/** Listed in full, so that the compiler reports a verb that is missing here. */
const ALL: Readonly<Record<Verb, true>> = {
  open: true,
  close: true,
  enqueue: true,
  enqueueInTransaction: true,
  register: true,
  deregister: true,
  renew: true,
  claim: true,
  claimAlone: true,
  endCrashStreak: true,
  startPrefetched: true,
  returnPrefetched: true,
  settle: true,
  record: true,
  acquireLocks: true,
  checkpoints: true,
  overdue: true,
  silent: true,
  rescue: true,
  promote: true,
  cancel: true,
  hurry: true,
  intervene: true,
  pause: true,
  resume: true,
  gates: true,
  countBehind: true,
  hold: true,
  release: true,
  resolveDependencies: true,
  get: true,
  ends: true,
  tenantsOf: true,
  attempts: true,
  progress: true,
  units: true,
  unitHolders: true,
  logs: true,
  openDependencies: true,
  dependants: true,
  holder: true,
  lockHolder: true,
  idsBetween: true,
  list: true,
  count: true,
  deadLetter: true,
  deadLetters: true,
  review: true,
  reprocess: true,
  workers: true,
  quiet: true,
  stopWorker: true,
  stats: true,
  groupedStats: true,
  feedEnd: true,
  feedStart: true,
  feed: true,
  createToken: true,
  tokenOf: true,
  markTokensUsed: true,
  tokens: true,
  token: true,
  revokeToken: true,
  prune: true,
  expired: true,
  markStale: true,
  remove: true,
};

export const VERBS: readonly Verb[] = Object.keys(ALL).filter(isVerb);

function isVerb(name: string): name is Verb {
  return Object.hasOwn(ALL, name);
}
