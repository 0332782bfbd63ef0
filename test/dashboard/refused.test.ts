/** A person without the right to see something: the page asks once, and says what is missing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screensOf, Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Longer than every pause between two reads of a screen. */
const LOOK_MS = 120_000;
const NOTE = "You may not see this";

describe("a viewer", () => {
  test.for([
    [undefined, { Tenants: ["/api/v1/tenants"] }],
    [
      "acme",
      {
        Tenants: ["/api/v1/tenants"],
        Workers: ["/api/v1/workers"],
        Breakers: ["/api/v1/breakers"],
      },
    ],
  ] as const)(
    "of the tenant %s is refused each read once, on every screen, and told why",
    { timeout: 120_000 },
    async ([tenant, expected], context) => {
      await using watched = await stage.page(
        context,
        ["viewer"],
        tenant === undefined ? {} : { tenant },
      );
      const { page } = watched;
      let asked: string[] = [];
      page.on("response", (response) => {
        if (response.status() === 403) asked.push(new URL(response.url()).pathname);
      });
      await page.clock.install();
      const refused: Record<string, readonly string[]> = {};

      for (const [name, path] of Object.entries(screensOf(stage.scene))) {
        asked = [];
        await watched.show(path);
        await page.clock.runFor(LOOK_MS);
        if (asked.length === 0) continue;
        refused[name] = asked;
        const note = page.getByRole("main").locator(".note").filter({ hasText: NOTE });
        expect(await note.first().textContent()).toMatch(/FORBIDDEN.*(needs|concerns)/);
      }

      expect(refused).toEqual(expected);
    },
  );
});
