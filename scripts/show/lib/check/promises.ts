/** What else was promised: that keys hold, ends are as told, and no process dies of a fault. */
import { childName, DEAF_EXIT } from "../fleet/history.ts";
import type { Exit, Finding, History, StoredJob } from "../fleet/history.ts";

/** Clocks are read in whole milliseconds, by two processes. */
const CLOCK_MS = 2;

export function judgePromises(history: History): Finding[] {
  const jobs = [...(history.store ?? [])];
  return [
    ...keys(history, jobs),
    ...copies(jobs),
    ...fences(jobs),
    ...children(jobs),
    ...ends(history, jobs),
    ...cancellations(history),
    ...earlyStarts(history),
    ...exits(history),
    ...(history.ailments ?? []).map((why): Finding => ({ kind: "ailing", job: "the store", why })),
  ];
}

type Jobs = readonly (readonly [id: string, job: StoredJob])[];

/** A key leads to one job, for every caller and however often it is asked for. */
function keys({ acks }: History, jobs: Jobs): Finding[] {
  const promised = acks.flatMap(({ key, id }) => (key === undefined ? [] : [{ key, id }]));
  const stored = jobs.flatMap(([id, { key }]) => (typeof key === "string" ? [{ key, id }] : []));
  return [...Map.groupBy([...promised, ...stored], ({ key }) => key)].flatMap(([key, same]) => {
    const ids = new Set(same.map(({ id }) => id));
    if (ids.size < 2) return [];
    return [{ kind: "copied", job: key, why: `this key led to ${[...ids].join(", ")}` } as const];
  });
}

/** Each request names its task, and is one job at most. */
function copies(jobs: Jobs): Finding[] {
  const named = jobs.filter(([, { name }]) => name !== undefined);
  return [...Map.groupBy(named, ([, { name }]) => name)]
    .filter(([, same]) => same.length > 1)
    .map(([name = "", same]) => {
      return { kind: "copied", job: name, why: `it was enqueued ${same.length} times` };
    });
}

/** Also the store's own ledger shows one fence above the other. */
function fences(jobs: Jobs): Finding[] {
  return jobs.flatMap(([job, { attempts }]): Finding[] => {
    const all = attempts.flatMap(({ fence }) => (fence === null ? [] : [fence]));
    const isGrowing = all.every((fence, index) => index === 0 || fence > all[index - 1]!);
    if (isGrowing) return [];
    return [{ kind: "unfenced", job, why: `the store has its fences as ${all.join(", ")}` }];
  });
}

/** A child comes into being with the end of its parent, or not at all. */
function children(jobs: Jobs): Finding[] {
  const byId = new Map(jobs);
  const names = new Set(jobs.map(([, { name }]) => name));
  return jobs.flatMap(([job, { state, name, end, parent }]): Finding[] => {
    const isDone = state === "completed" && end === "parent" && name !== undefined;
    if (isDone && !names.has(childName(name))) {
      return [{ kind: "childless", job, why: `${name} is completed and has no child` }];
    }
    if (typeof parent !== "string" || byId.get(parent)?.state === "completed") return [];
    const found = byId.get(parent)?.state ?? "not there";
    return [{ kind: "childless", job, why: `its parent ${parent} is ${found}` }];
  });
}

/** A final state must be the one that its task leads to, or be explained. */
function ends({ cancels = [] }: History, jobs: Jobs): Finding[] {
  const asked = new Set(cancels.map(({ id }) => id));
  const byId = new Map(jobs);
  const isBad = (id: string): boolean =>
    ["failed", "cancelled"].includes(byId.get(id)?.state ?? "");
  return jobs.flatMap(([job, { state, end, attempts, asked: more = {} }]): Finding[] => {
    if (end === undefined) return [];
    const isBereft = more.onFailed !== "run" && (more.after ?? []).some(isBad);
    const isCrashed = attempts.at(-1)?.outcome === "crashed";
    const isFair =
      (state === "completed" && end !== "failure") ||
      (state === "failed" && (end === "failure" || isCrashed)) ||
      (state === "cancelled" && (asked.has(job) || isBereft)) ||
      (state !== "completed" && state !== "failed" && state !== "cancelled");
    return isFair ? [] : [{ kind: "unlike", job, why: `its task ends ${end}, and it is ${state}` }];
  });
}

/** What was cancelled while it waited never begins. The word of a zombie came from before. */
function cancellations({ cancels = [], ledger, store }: History): Finding[] {
  const cancelled = new Map(
    cancels.filter(({ state }) => state === "cancelled").map(({ id, at }) => [id, at]),
  );
  return ledger.flatMap(({ job, fence, what, at }): Finding[] => {
    const cancelledAt = cancelled.get(job);
    if (what !== "start" || cancelledAt === undefined || at <= cancelledAt) return [];
    const record = store?.get(job)?.attempts.find((attempt) => attempt.fence === fence);
    if (record !== undefined && record.finishedAt <= cancelledAt) return [];
    const late = `${at - cancelledAt} ms after its cancellation was acknowledged`;
    return [{ kind: "unheeded", job, why: `fence ${fence} began ${late}` }];
  });
}

function earlyStarts({ acks, ledger }: History): Finding[] {
  const due = new Map(acks.flatMap(({ id, dueAt }) => (dueAt === undefined ? [] : [[id, dueAt]])));
  return ledger.flatMap(({ job, fence, what, at }): Finding[] => {
    const aheadMs = (due.get(job) ?? at) - at;
    if (what !== "start" || aheadMs <= CLOCK_MS) return [];
    return [{ kind: "early", job, why: `fence ${fence} began ${aheadMs} ms too early` }];
  });
}

const STOPPED: ReadonlySet<Exit["code"]> = new Set([0, DEAF_EXIT]);

/** A process that was not killed lives on, and ends well when it is told to stop. */
function exits({ exits: all = [] }: History): Finding[] {
  return all
    .filter(({ told, code }) => told === "nothing" || (told === "stop" && !STOPPED.has(code)))
    .map(({ pid, told, code }) => {
      const why = told === "stop" ? "was told to stop" : "was told nothing";
      return { kind: "exit", job: `process ${pid}`, why: `it ${why} and ended with ${code}` };
    });
}
