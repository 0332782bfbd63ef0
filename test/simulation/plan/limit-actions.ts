/** Jobs of a limited type, and what operators do with limits. */
import { LIMIT_TARGETS, narrow } from "../fleet/limits.ts";
import type { Operation } from "./action-context.ts";
import type { Draw } from "./draw.ts";
import { payloadOf } from "./requests.ts";
import type { Operation as Kind } from "./plan.ts";

const CAP_MAX = 4;
const LARGE_CAP = 12;
const JOBS_MAX = 10;
const BURST_MAX = 4;
const RATE_MIN = 3;
const RATE_MAX = 12;
const PERIOD_MS = 1_000;

export const LIMIT_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  enqueueNarrow: ({ plan }, { client }, draw) =>
    client.enqueueMany(
      Array.from({ length: 1 + draw.upTo(JOBS_MAX) }, () => {
        const tenant = draw.upTo(3) === 0 ? "n1" : "default";
        return narrow.of(payloadOf(plan, draw), { tenant });
      }),
    ),
  setLimit: (_, { client }, draw) =>
    client.limits.set(targetOf(draw), { concurrency: capOf(draw) }),
  setRate: (_, { client }, draw) => {
    const limit = RATE_MIN + draw.upTo(RATE_MAX);
    const rate = { limit, per: PERIOD_MS, burst: 1 + draw.upTo(BURST_MAX) };
    const cap = draw.upTo(2) === 0 ? {} : { concurrency: capOf(draw) };
    return client.limits.set(targetOf(draw), { rate, ...cap });
  },
  removeLimit: (_, { client }, draw) => client.limits.remove(targetOf(draw)),
};

/** Mostly small; of a large one, a prefetch takes jobs as well. */
function capOf(draw: Draw): number {
  return draw.upTo(3) === 0 ? CAP_MAX + draw.upTo(LARGE_CAP) : 1 + draw.upTo(CAP_MAX);
}

function targetOf(draw: Draw) {
  return draw.one(LIMIT_TARGETS) ?? LIMIT_TARGETS[0]!;
}
