/** The deletion of an account by workers that die at every step. */
import { describe, expect, test } from "vitest";
import { ANONYMIZATION_STUCK, FILES_STUCK, HAPPY, violationsOf } from "./arrangements.ts";
import { killPlaces, workAndDie } from "./killed-workers.ts";
import { useServer } from "./server.ts";

const createWorld = useServer();
/** The places at which a failed attempt is a fact already, and its check has not ended. */
const SAMPLE = ["after:runFunction=kill@2", "after:record=kill@3", "before:settle=kill@4"];

describe("the deletion of an account", () => {
  test.each([
    { arrangement: HAPPY, places: killPlaces(1), least: 5 },
    { arrangement: FILES_STUCK, places: SAMPLE, least: 2 },
    { arrangement: ANONYMIZATION_STUCK, places: SAMPLE, least: 2 },
  ])(
    "comes to the same end when workers are killed: $arrangement.name",
    async ({ arrangement, places, least }) => {
      await using world = await createWorld();
      const account = await world.addAccount(["one.wav", "two.wav"]);
      await arrangement.arrange(world);
      await world.request(account);

      const died = await workAndDie(world, places);

      // A worker may find no task of a kind any more, and then ends the work instead of dying.
      expect(died.length).toBeGreaterThanOrEqual(least);
      expect(await violationsOf(world, [account], arrangement)).toEqual([]);
    },
  );
});
