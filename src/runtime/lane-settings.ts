/** The option `lanes` of `mill.work`: slots, fairness and ageing of each lane. */
import type { TenantWeights } from "../core/control/fairness.ts";
import { durationMs } from "../core/duration.ts";
import type { LaneOptions } from "../api/worker.ts";
import { insistOn } from "../jobs/check-text.ts";
import { someLanes, type Lanes } from "../jobs/lanes-rule.ts";

export interface LaneSettings {
  /** Null: the code states that the lane is not fair. Undefined: the code does not say. */
  readonly weights: TenantWeights | null | undefined;
  /** Null: no ageing. */
  readonly ageingMs: number | null;
}

/** The slots of each lane. Throws if the lanes break their rule. */
export function slotsByLane(lanes: Lanes): Readonly<Record<string, number>> {
  insistOn("work", someLanes, lanes, "lanes");
  return Object.fromEntries(
    Object.entries(lanes).map(([lane, given]) => [lane, optionsOf(given).slots]),
  );
}

/** The other options of lanes that {@link slotsByLane} has checked. */
export function laneOptionsOf(lanes: Lanes): Readonly<Record<string, LaneSettings>> {
  return Object.fromEntries(
    Object.entries(lanes).map(([lane, given]) => {
      const { fair, ageing } = optionsOf(given);
      const ageingMs = ageing === undefined ? null : durationMs(ageing, "ageing");
      return [lane, { weights: weightsOf(fair), ageingMs }];
    }),
  );
}

function optionsOf(given: number | LaneOptions): LaneOptions {
  return typeof given === "number" ? { slots: given } : given;
}

function weightsOf(fair: LaneOptions["fair"]): LaneSettings["weights"] {
  if (fair === undefined) return undefined;
  if (fair === false) return null;
  return fair === true ? {} : { ...fair.weights };
}
