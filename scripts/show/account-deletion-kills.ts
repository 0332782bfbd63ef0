/**
 * Accounts are deleted by workers that are killed (kill -9) again and again, at places of the store
 * that a seed draws: before and after a claim, a function, a note and a settlement. Afterwards the
 * facts must agree: each account is deleted, each attempt has one outcome, and each check of a
 * supervisor was one task.
 *
 *     node --conditions=source scripts/show/account-deletion-kills.ts [--rounds 5] [--kills 20]
 */
import { parseArgs } from "node:util";
import { startDatabase } from "../../examples/account-deletion/src/database-server.ts";
import { killPlaces, workAndDie } from "../../examples/account-deletion/test/killed-workers.ts";
import { World } from "../../examples/account-deletion/test/world.ts";
import { seededDice } from "../../test/support/seeded-dice.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    kills: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
  },
});
const [rounds, kills, seed] = [values.rounds, values.kills, values.seed].map(Number);
const dice = seededDice(seed ?? 1);
const places = [1, 2, 3, 5].flatMap(killPlaces);
let deaths = 0;
let faults = 0;

await using server = await startDatabase();
for (let round = 1; round <= (rounds ?? 0); round += 1) {
  const { died, wrong } = await playRound(`round_${round}`);
  deaths += died;
  faults += wrong.length;
  console.log(`round ${round}: ${died} kills, ${wrong.length === 0 ? "all facts agree" : ""}`);
  for (const each of wrong) console.log(`  ${each}`);
}
console.log(`${rounds} rounds with the seed ${seed}: ${deaths} kills, ${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;

/** Two accounts with five recordings, which as many workers as are drawn die over. */
async function playRound(name: string): Promise<{ died: number; wrong: string[] }> {
  await using world = await World.create(server.url, name);
  const accounts = [
    await world.addAccount(["a.wav", "b.wav", "c.wav"]),
    await world.addAccount(["d.wav", "e.wav"]),
  ];
  for (const account of accounts) await world.request(account);
  const drawn = Array.from({ length: kills ?? 0 }, () => {
    return places[Math.floor(dice.random() * places.length)] ?? "";
  });
  const died = await workAndDie(world, drawn);
  const wrong = await world.disagreements();
  for (const account of accounts) {
    const { outcome, error } = await world.report(account);
    if (outcome !== "succeeded") wrong.push(`account ${account}: ${outcome} ${error ?? ""}`);
  }
  if (world.objects().length > 0) wrong.push(`objects are left: ${world.objects().join(", ")}`);
  if (world.mail.received.size !== accounts.length) wrong.push("not one mail for each account");
  if (world.sms.sent.length !== accounts.length) wrong.push("not one message for each account");
  return { died: died.length, wrong };
}
