/** The frame of the page: sign-in, keys, palette, live updates and reconnects, roles. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../scripts/show/lib/http/server-process.ts";
import { defineJob } from "../../src/index.ts";
import { screensOf, Stage } from "./support/pages.ts";

let stage: Stage;

/** Opens the help, closes it and opens the palette, and lets the page render but not paint. */
const PRESS_WITHIN_A_FRAME = `(async () => {
  const press = async (key, more = {}) => {
    const target = document.activeElement ?? document.body;
    const init = { key, bubbles: true, cancelable: true, ...more };
    target.dispatchEvent(new KeyboardEvent("keydown", init));
    for (let turn = 0; turn < 10; turn += 1) await null;
  };
  const title = () => document.querySelector("dialog h2")?.textContent ?? null;
  await press("?");
  const afterHelp = title();
  await press("Escape");
  const afterEscape = title();
  await press("k", { ctrlKey: true });
  return { afterHelp, afterEscape, typesInto: document.activeElement.getAttribute("role") };
})()`;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("the sign-in", () => {
  test("refuses a wrong token, and shows the page after a right one", async (context) => {
    const page = await (await stage.browserOf(context).newContext({ locale: "en-GB" })).newPage();
    const { secret } = await stage.scene.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });

    await page.goto(stage.server.origin);
    await page.getByLabel("Token").fill("mr_person_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is not a valid token").waitFor();
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();

    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.context().close();
  });

  test("comes back when the session has ended, and the screen stays", async (context) => {
    await using watched = await stage.page(context, ["operator"]);
    const { page } = watched;
    await watched.show("jobs");
    await page.getByRole("table").waitFor();

    for (const token of await stage.scene.mill.tokens.list({ kind: "session" })) {
      await stage.scene.mill.tokens.revoke(token.id);
    }
    await page.getByRole("heading", { name: "You were signed out" }).waitFor({ timeout: 30_000 });

    expect(await page.getByRole("table").isVisible()).toBe(true);
    const { secret } = await stage.scene.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["operator"],
    });
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "You were signed out" }).waitFor({ state: "detached" });
  });

  test("lies above a dialog, which keeps what was typed and is sent", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context, ["operator"]);
    const { page } = watched;
    const typed = "typed before the session ended";
    const { id } = await mill.enqueue(defineJob({ type: "typed" }), undefined, { delay: "1h" });
    await watched.show(`jobs/${id}`);
    await page
      .getByRole("main")
      .getByRole("button", { name: /^Cancel/ })
      .click();
    await page.getByLabel("Reason").fill(typed);
    const again = page.getByRole("dialog", { name: "You were signed out" });
    const person = { kind: "person", name: "ada", roles: ["operator"] } as const;
    const { secret } = await mill.tokens.create(person);
    const signInAgain = async () => {
      await again.getByLabel("Token").fill(secret);
      await again.getByRole("button", { name: "Sign in" }).click();
      await again.waitFor({ state: "detached" });
      expect(await page.getByLabel("Reason").inputValue()).toBe(typed);
    };

    for (const token of await mill.tokens.list({ kind: "session" })) {
      await mill.tokens.revoke(token.id);
    }
    await again.waitFor({ timeout: 30_000 });
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
    await signInAgain();
    // The next session ends at the very call that sends what was typed.
    const ended = { status: 401, contentType: "application/problem+json", body: "{}" };
    await page.route("**/cancel", (route) => route.fulfill(ended), { times: 1 });
    await page.getByRole("button", { name: "Cancel 1 job" }).click();
    await signInAgain();
    await page.getByRole("button", { name: "Cancel 1 job" }).click();

    await expect
      .poll(() => mill.jobs.get(id))
      .toMatchObject({ state: "cancelled", cancelReason: typed });
  });
});

describe("the keyboard", () => {
  test("reaches every screen after g, the help and the palette", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    const keys = { j: "Jobs", f: "Failures", d: "Dead letters", q: "Lanes and types" };
    const more = { s: "Schedules", w: "Workers", b: "Breakers", a: "Audit", o: "Overview" };

    for (const [key, name] of Object.entries({ ...keys, ...more })) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name }).waitFor();
    }
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.getByRole("heading", { level: 1, name: "Lanes and types" }).waitFor();
    await page.keyboard.press("?");
    await page
      .getByRole("dialog", { name: "Keyboard" })
      .getByText("Ctrl", { exact: true })
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(stage.scene.failedId);
    await page.keyboard.press("Enter");

    await expect.poll(() => page.url()).toContain(`#/jobs/${stage.scene.failedId}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("lane bulk");
    await page.getByRole("option", { name: /jobs of lane/ }).click();
    await expect.poll(() => decodeURIComponent(page.url())).toContain("#/jobs?q=lane:bulk");
    await watched.show("nowhere");
    await page.getByRole("heading", { level: 1, name: "No such page" }).waitFor();
  });

  test("acts at once after a dialog has closed, and types into one at once", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;

    // All within one frame, as fast hands and a slow machine do.
    const seen = await page.evaluate(PRESS_WITHIN_A_FRAME);

    expect(seen).toEqual({ afterHelp: "Keyboard", afterEscape: null, typesInto: "combobox" });
  });
});

describe("live updates", () => {
  test("arrive while jobs are enqueued, also after a restart of the server", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    const fresh = defineJob({ type: "fresh" });
    await watched.show("jobs?q=type:fresh");
    await page.getByText("No job matches").waitFor();

    await stage.scene.mill.enqueue(fresh);
    await page
      .getByText(/1 new|fresh/)
      .first()
      .waitFor();
    const { origin } = stage.server;
    await stage.server[Symbol.asyncDispose]();
    await page.getByText("Connecting").waitFor();
    await stage.scene.mill.enqueue(fresh);
    stage.server = await startServer({
      url: stage.url,
      port: Number(new URL(origin).port),
      token: null,
    });

    await page.getByText("Live", { exact: true }).waitFor({ timeout: 30_000 });
    await watched.show("jobs?q=type:fresh");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(2);
  });
});

describe("a browser without a language", () => {
  test("draws the charts", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await page.addInitScript(
      'Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true })',
    );

    await page.reload();
    await page.locator(".chart canvas").first().waitFor();

    expect(await page.evaluate("navigator.language")).toBe("en-US");
    expect(watched.troubles).toEqual([]);
  });
});

describe("a viewer", () => {
  test("sees no button that would be refused", async (context) => {
    await using watched = await stage.page(context, ["viewer"]);
    const verbs = new RegExp(
      "^(Run now|Retry|Cancel|Acknowledge|Reprocess|Discard|Pause|Resume|Reset|Force open|Quiet|" +
        "Stop|Delete|Snooze)\\b",
    );
    const found: string[] = [];

    for (const [name, path] of Object.entries(screensOf(stage.scene))) {
      if (name === "Sheet") continue;
      await watched.show(path);
      for (const button of await watched.page.locator("main button").allTextContents()) {
        if (verbs.test(button.trim())) found.push(`${name}: ${button}`);
      }
    }

    expect(found).toEqual([]);
  });

  test("has no key that would be refused", async (context) => {
    await using watched = await stage.page(context, ["viewer"]);
    const { page } = watched;
    const found: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") found.push(`${request.method()} ${request.url()}`);
    });

    for (const [name, path] of Object.entries(screensOf(stage.scene))) {
      if (name === "Sheet") continue;
      await watched.show(path);
      for (const key of ["j", "x", "r", "c"]) {
        await page.keyboard.press(key);
        if ((await page.getByRole("dialog").count()) === 0) continue;
        found.push(`${name}: ${key}`);
        await page.keyboard.press("Escape");
      }
    }

    expect(found).toEqual([]);
    expect(await page.locator(".toast").count()).toBe(0);
  });

  test("reads no payload and no error of a job", async (context) => {
    await using watched = await stage.page(context, ["viewer"]);

    await watched.show(`jobs/${stage.scene.failedId}`);

    const text: string = await watched.page.evaluate("document.body.textContent");
    expect(text).not.toContain("window.pwned");
    expect(text).toContain("[redacted]");
  });
});
