/**
 * Accounts are deleted by workers that are killed (kill -9) again and again, at places of the store
 * that a seed draws: before and after a claim, a function, a note and a settlement. Each round is
 * played in three arrangements: the happy path, a bucket that is gone, so that every file is stuck,
 * and an anonymization that raises an error. Afterwards the facts must agree: each attempt has one
 * outcome, each check of a supervisor was one task, a stuck process has exactly as many failed
 * attempts as it may have, each account has one final word, and no task is open.
 *
 *     node --conditions=source scripts/show/account-deletion-kills.ts [--rounds 3] [--kills 20]
 */
import { parseArgs } from "node:util";
import { startDatabase } from "../../examples/account-deletion/src/database-server.ts";
import {
  ARRANGEMENTS,
  violationsOf,
  type Arrangement,
} from "../../examples/account-deletion/test/arrangements.ts";
import { killPlaces, workAndDie } from "../../examples/account-deletion/test/killed-workers.ts";
import { World } from "../../examples/account-deletion/test/world.ts";
import { seededDice } from "../../test/support/seeded-dice.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    kills: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
  },
});
const [rounds = 0, kills = 0, seed = 1] = [values.rounds, values.kills, values.seed].map(Number);
const dice = seededDice(seed);
const places = [1, 2, 3, 5].flatMap(killPlaces);
let faults = 0;

await using server = await startDatabase();
for (const [index, arrangement] of ARRANGEMENTS.entries()) {
  let deaths = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const { died, wrong } = await playRound(`round_${index}_${round}`, arrangement);
    deaths += died;
    faults += wrong.length;
    const verdict = wrong.length === 0 ? "all facts agree" : `${wrong.length} faults`;
    console.log(`${arrangement.name}, round ${round}: ${died} kills, ${verdict}`);
    for (const each of wrong) console.log(`  ${each}`);
  }
  console.log(`${arrangement.name}: ${rounds} rounds with the seed ${seed}, ${deaths} kills`);
  // A round without a death proves nothing.
  if (deaths === 0) faults += 1;
}
console.log(`${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;

/** Two accounts with five recordings, which as many workers as are drawn die over. */
async function playRound(
  name: string,
  arrangement: Arrangement,
): Promise<{ died: number; wrong: string[] }> {
  await using world = await World.create(server.url, name);
  const accounts = [
    await world.addAccount(["a.wav", "b.wav", "c.wav"]),
    await world.addAccount(["d.wav", "e.wav"]),
  ];
  await arrangement.arrange(world);
  for (const account of accounts) await world.request(account);
  const drawn = Array.from({ length: kills }, () => {
    return places[Math.floor(dice.random() * places.length)] ?? "";
  });
  const died = await workAndDie(world, drawn);
  return { died: died.length, wrong: await violationsOf(world, accounts, arrangement) };
}
