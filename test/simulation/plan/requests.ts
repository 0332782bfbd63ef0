/** What jobs are asked for. */
import type { Draw } from "./draw.ts";
import { contracts, type Payload } from "../fleet/jobs.ts";
import type { Behaviour, Plan } from "./plan.ts";

export function contractOf(draw: Draw) {
  return draw.one(contracts) ?? contracts[0];
}

export function payloadOf({ behaviours, runMs }: Plan, draw: Draw): Payload {
  const runs = Array.from({ length: 1 + draw.upTo(3) }, (): Behaviour => {
    return draw.one(behaviours) ?? "ok";
  });
  return { token: draw.upTo(1_000), runs, ms: draw.upTo(runMs) };
}

/** An id as clients know it. */
export function uuid(hex: string): string {
  const letters = hex.toLowerCase();
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => letters.slice(cuts[index], end))
    .join("-");
}
