/** Makes a failing plan smaller: delta debugging over its actions. */
import type { Plan } from "./plan/plan.ts";
import { simulate } from "./run.ts";

/** Drops actions as long as the same invariant breaks; answers the smallest plan found. */
export async function shrink(plan: Plan, tell: (line: string) => void): Promise<Plan> {
  const broken = await brokenBy(plan);
  if (broken === null) return plan;
  let smallest = plan;
  for (let size = Math.ceil(plan.actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < smallest.actions.length;) {
      const actions = smallest.actions.toSpliced(from, size);
      const candidate = { ...smallest, actions };
      if ((await brokenBy(candidate)) === broken) smallest = candidate;
      else from += size;
    }
    tell(`${smallest.actions.length} action(s) left at steps of ${size}`);
  }
  return smallest;
}

/** The invariant that breaks first. */
async function brokenBy(plan: Plan): Promise<string | null> {
  const [first] = (await simulate(plan)).violations;
  return first?.split(":")[0] ?? null;
}
