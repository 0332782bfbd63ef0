/** What the tests of following need: jobs that wait at gates, and a terminal to draw on. */
import { join } from "node:path";
import { defineJob, NonRetryableError, openMillrace, type Millrace } from "millrace";
import type { Screen } from "../../src/cli/terminal/terminal.ts";
import { temporaryFolder } from "./children.ts";
import { Command } from "./command.ts";

/** A store with a worker in this process, whose jobs go on when the test opens their gates. */
export async function openHouse() {
  const folder = temporaryFolder();
  const path = join(folder.path, "jobs.db");
  const db = `sqlite:${path}`;
  const mill: Millrace = await openMillrace(db, { logger: SILENT });
  const gates = new Gates();
  const publish = publishJob(gates);
  const cancelled = defineJob({ type: "cancelled" }).run(async (_, ctx) => {
    await mill.jobs.cancel(ctx.job.id, "not wanted");
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
    });
  });
  const doomed = defineJob({ type: "doomed" }).run(() => {
    throw new NonRetryableError("no way");
  });
  const worker = mill.work({ jobs: [publish, doomed, cancelled], poll: "50ms", grace: 1 });
  await worker.ready;
  return {
    folder: folder.path,
    db,
    mill,
    publish,
    open: (gate: string): void => gates.open(gate),
    start: (...args: readonly string[]): Command => new Command(folder.path, [...args, "--db", db]),
    async [Symbol.asyncDispose]() {
      await mill.close();
      folder[Symbol.dispose]();
    },
  };
}

/** The worker's own log, beside that of the jobs. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A terminal that takes apart what is drawn on it: lines that stay, and pictures. */
export class FakeScreen implements Screen {
  readonly pictures: string[] = [];
  said = "";
  #drawn = (): void => {};

  size(): { width: number; height: number } {
    return { width: 80, height: 24 };
  }

  paint(_: string, text: string): string {
    return text;
  }

  readonly write = (text: string): void => {
    const [, above = "", picture] = /^[^J]*J(.*)\[\?7l(.*).\[\?7h$/s.exec(text) ?? [];
    this.said += above;
    if (picture === undefined) return;
    this.pictures.push(picture);
    this.#drawn();
  };

  /** The first picture that shows it. */
  async drew(pattern: RegExp): Promise<string> {
    for (;;) {
      const picture = this.pictures.find((each) => pattern.test(each));
      if (picture !== undefined) return picture;
      await new Promise<void>((resolve) => {
        this.#drawn = resolve;
      });
    }
  }
}

const EDITIONS = Array.from({ length: 12 }, (_, n) => String(n));

function publishJob(gates: Gates) {
  return defineJob({ type: "publish" })
    .phase("fetch", async (_, ctx) => {
      ctx.log.info("fetched", { pages: EDITIONS.length, from: "r2" });
      await ctx.progress(50);
      await gates.passed("fetched", ctx.signal);
      return { editions: EDITIONS };
    })
    .phase("editions", async (_, ctx) => {
      const move = async (edition: string, signal: AbortSignal): Promise<void> => {
        if (Number(edition) >= 5) await gates.passed("moved", signal);
        if (["3", "9"].includes(edition)) throw new NonRetryableError(`no edition ${edition}`);
      };
      await ctx.each(
        ctx.results.fetch.editions,
        String,
        (edition, { signal }) => move(edition, signal),
        {
          concurrency: 20,
        },
      );
    })
    .phase("render", (_, ctx) => {
      ctx.log.warn("render is slow");
      return { pages: EDITIONS.length };
    });
}

class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  open(name: string): void {
    this.#gate(name).resolve();
  }

  /** Resolves when the gate is open; a run that must stop does not wait for it. */
  passed(name: string, signal: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => reject(signal.reason));
    return Promise.race([this.#gate(name).promise, promise]);
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}
