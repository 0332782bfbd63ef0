/** Opens pages of the dashboard with nothing in the cache, on a slowed-down CPU. */
import type { Browser, BrowserContext, Page } from "playwright-core";

/** What the page measured by its own clock, from the navigation on. */
export interface Opening {
  readonly paintMs: number;
  /** When the list had rows, or said that there are none. */
  readonly shownMs: number;
  readonly requests: number;
  readonly kilobytes: number;
  /** The number of rows, or the title of what stands in their place. */
  readonly said: string;
}

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** Notes when the first rows are there. It runs before the code of the page. */
const WATCH = `
  window.shown = new Promise((resolve) => {
    const look = () => {
      const isLoading = document.querySelector("main .skeleton") !== null;
      const done = document.querySelector("main tbody tr, main .empty, main .note.danger");
      if (done !== null && !isLoading) resolve(performance.now());
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });
`;

const OUTCOME = `(async () => {
  const shownMs = await window.shown;
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const rows = document.querySelectorAll("main tbody tr").length;
  const empty = document.querySelector("main .empty, main .note.danger");
  return {
    paintMs: paint?.startTime ?? NaN,
    shownMs,
    said: rows > 0 ? rows + " rows" : (empty?.textContent ?? "").slice(0, 40),
  };
})()`;

export class ColdBrowser {
  readonly origin: string;
  readonly #browser: Browser;
  readonly #state: State;
  readonly #slowdown: number;

  private constructor(browser: Browser, origin: string, state: State, slowdown: number) {
    this.#browser = browser;
    this.origin = origin;
    this.#state = state;
    this.#slowdown = slowdown;
  }

  /** Signs in once; every page has the session. */
  static async signIn(
    browser: Browser,
    origin: string,
    token: string,
    slowdown: number,
  ): Promise<ColdBrowser> {
    const context = await browser.newContext({ locale: "en-GB" });
    const page = await context.newPage();
    await page.goto(origin);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const state = await context.storageState();
    await context.close();
    return new ColdBrowser(browser, origin, state, slowdown);
  }

  /** A page in a context of its own. */
  async page(): Promise<Page> {
    const viewport = { width: 1440, height: 900 };
    const context = await this.#browser.newContext({
      locale: "en-GB",
      storageState: this.#state,
      viewport,
    });
    return context.newPage();
  }

  async open(place: string): Promise<Opening> {
    const page = await this.page();
    try {
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: this.#slowdown });
      await session.send("Network.enable");
      let requests = 0;
      let bytes = 0;
      page.on("request", () => (requests += 1));
      session.on("Network.loadingFinished", ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await page.addInitScript(WATCH);
      await page.goto(`${this.origin}/#/${place}`);
      const seen: Pick<Opening, "paintMs" | "shownMs" | "said"> = await page.evaluate(OUTCOME);
      return { ...seen, requests, kilobytes: Math.round(bytes / 1_000) };
    } finally {
      await page.context().close();
    }
  }
}
