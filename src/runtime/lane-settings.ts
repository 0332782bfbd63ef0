/** The option `lanes` of `mill.work`: slots, fairness and ageing of each lane. */
import type { TenantWeights } from "../core/control/fairness.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { isDuration } from "../api/rules.ts";
import type { LaneOptions } from "../api/worker.ts";
import { weightProblem } from "../jobs/weight-rule.ts";

export interface LaneSettings {
  /** Null: the code does not state that the lane is fair. */
  readonly weights: TenantWeights | null;
  /** Null: no ageing. */
  readonly ageingMs: number | null;
}

type Lanes = Readonly<Record<string, number | LaneOptions>>;

const KNOWN: ReadonlySet<string> = new Set(["slots", "fair", "ageing"]);
const SLOTS_MAX = 10_000;

/** The slots of each lane. */
export function slotsByLane(lanes: Lanes): Readonly<Record<string, number>> {
  const slots = Object.entries(lanes).map(([lane, given]): [string, number] => {
    const count = optionsOf(lane, given).slots;
    if (Number.isSafeInteger(count) && count >= 0 && count <= SLOTS_MAX) return [lane, count];
    throw invalid(`"${lane}" must have a whole number of slots from 0 to ${SLOTS_MAX}`);
  });
  if (slots.every(([, count]) => count === 0)) throw invalid("at least one lane must have a slot");
  return Object.fromEntries(slots);
}

export function laneOptionsOf(lanes: Lanes): Readonly<Record<string, LaneSettings>> {
  return Object.fromEntries(
    Object.entries(lanes).map(([lane, given]) => {
      const options = optionsOf(lane, given);
      return [lane, { weights: weightsOf(lane, options), ageingMs: ageingOf(lane, options) }];
    }),
  );
}

function optionsOf(lane: string, given: number | LaneOptions): LaneOptions {
  if (typeof given !== "object" || given === null) return { slots: given };
  const unknown = Object.keys(given).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw invalid(`"${lane}" has the unknown option "${unknown}"`);
  return given;
}

function weightsOf(lane: string, { fair = false }: LaneOptions): TenantWeights | null {
  if (typeof fair === "boolean") return fair ? {} : null;
  const problem = weightProblem(fair?.weights ?? {});
  if (problem === null) return { ...fair.weights };
  throw invalid(`"${lane}" must have fair: true or fair: { weights: { acme: 3 } }: ${problem}`);
}

function ageingOf(lane: string, { ageing }: LaneOptions): number | null {
  if (ageing === undefined) return null;
  if (isDuration(ageing, { minMs: 1 })) return durationMs(ageing, "ageing");
  throw invalid(`"${lane}" must have a duration as its ageing, such as "10m"`);
}

function invalid(message: string): MillraceError {
  return new MillraceError("OPTION_INVALID", `work: lanes: ${message}`);
}
