import { describe, expect, test } from "vitest";
import type { OpenStore } from "../../support/stores.ts";

export function functionsSuite(open: OpenStore): void {
  describe("runFunction", () => {
    test.each(["comms.get_email", "now", "now()); DROP TABLE job; --", "", "it's", 'a"b'])(
      "refuses a name that is not registered: %s",
      async (name) => {
        await using db = await open();
        await expect(db.store.runFunction(name, "{}")).rejects.toMatchObject({
          code: "FUNCTION_UNKNOWN",
          details: { function: name },
        });
      },
    );
  });
}
