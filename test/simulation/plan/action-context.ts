/** What actions have at hand. */
import type { Draw } from "./draw.ts";
import type { Fleet, Member } from "../fleet/fleet.ts";
import type { Plan } from "./plan.ts";
import { uuid } from "./requests.ts";
import type { RetentionRules } from "../fleet/retention.ts";
import type { Watch } from "../checks/watch.ts";
import type { World } from "../fleet/world.ts";

export interface ActionContext {
  readonly world: World;
  readonly watch: Watch;
  readonly fleet: Fleet;
  readonly plan: Plan;
  readonly path: string;
  readonly retention: RetentionRules;
  readonly count: (name: string) => void;
  /** Does something between two steps of the processes. */
  readonly soon: (label: string, work: () => void) => void;
  /** Dead processes come again after so long. */
  readonly restart: (role: string, ms: number) => void;
}

export type Operation = (context: ActionContext, member: Member, draw: Draw) => Promise<unknown>;

/** A job that is still there, mostly one that a worker holds. */
export function someJob({ watch: { committed }, fleet }: ActionContext, draw: Draw): string {
  const held = [...committed.held.keys()].flatMap((key) => committed.jobs.get(key)?.id ?? []);
  const here = [...committed.keys.keys()];
  const isHeld = draw.upTo(3) > 0 && held.length > 0;
  const hex = draw.one(isHeld ? held : here) ?? draw.one([...fleet.answers.acked.keys()]);
  if (hex === undefined) throw new Error("there is no job yet");
  return uuid(hex);
}
