/** The difference between what three schedulers have made and what the policies demand. */
import { nameOf, type Diary } from "./run-zone.ts";
import { POLICIES, type Policy, type ShownRule } from "./rules.ts";

const MINUTE = 60_000;

export function differencesOf(
  rules: readonly ShownRule[],
  slots: readonly (readonly number[])[],
  diaries: ReadonlyMap<string, Diary>,
  jobs: ReadonlyMap<string, number>,
): readonly string[] {
  const left = new Map(jobs);
  const wrong = rules.flatMap(({ cron, policies }, rule) =>
    policies.flatMap((policy) => {
      const name = nameOf(rule, policy);
      const { looks, missed } = diaries.get(name)!;
      const wanted = expected(policy, slots[rule]!, looks);
      const lines = wanted.made.flatMap((slot) => {
        const made = left.get(`${name} ${slot}`) ?? 0;
        left.delete(`${name} ${slot}`);
        return made === 1 ? [] : [`${textOf(slot)} has ${made} jobs`];
      });
      if (missed.join() !== wanted.missed.join()) lines.push("other missed slots are told");
      return lines.map((line) => `${cron} (${policy}): ${line}`);
    }),
  );
  for (const key of left.keys()) {
    const [policy, rule, slot] = key.split(" ");
    const { cron } = rules[Number(rule)]!;
    wrong.push(`${cron} (${policy}): ${textOf(Number(slot))} should have no job`);
  }
  return wrong;
}

function textOf(slot: number): string {
  return new Date(slot).toISOString();
}

/** By the rules of the documentation: late by more than a minute is missed. */
function expected(
  policy: Policy,
  slots: readonly number[],
  looks: readonly number[],
): { readonly made: readonly number[]; readonly missed: readonly string[] } {
  const made: number[] = [];
  const isMade = new Set<number>();
  const missed: string[] = [];
  let done = 0;
  for (const now of looks) {
    // After the clock went back, slots that were not made come again.
    while (done > 0 && slots[done - 1]! > now) done -= 1;
    const due: number[] = [];
    for (; done < slots.length && slots[done]! <= now; done += 1) {
      if (!isMade.has(slots[done]!)) due.push(slots[done]!);
    }
    const late = due.filter((slot) => slot <= now - MINUTE);
    const dropped = late.slice(0, Math.max(0, late.length - POLICIES[policy]));
    if (dropped.length > 0) missed.push(`${dropped[0]} ${dropped.at(-1)}`);
    const kept = due.slice(dropped.length);
    made.push(...kept);
    for (const slot of kept) isMade.add(slot);
  }
  return { made, missed };
}
