/** The deletion of an account by workers that die at every step. */
import { describe, expect, test } from "vitest";
import { killPlaces, workAndDie } from "./killed-workers.ts";
import { useServer } from "./server.ts";

const createWorld = useServer();

describe("the deletion of an account", () => {
  test("comes to the same end when workers are killed at every step", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav", "two.wav"]);
    await world.request(account);

    const died = await workAndDie(world, killPlaces(1));

    const { flags, files, outcome } = await world.report(account);
    // A worker may find no task of a kind any more, and then ends the work instead of dying.
    expect(died.length).toBeGreaterThanOrEqual(5);
    expect({ flags, outcome }).toEqual({ flags: ["deleted", "anonymized"], outcome: "succeeded" });
    expect(files.map(({ deleted }) => deleted)).toEqual([true, true]);
    expect(world.objects()).toEqual([]);
    expect(await world.disagreements()).toEqual([]);
    expect(world.mail.received.size).toBe(1);
    expect(world.sms.sent).toHaveLength(1);
  });
});
