/** Links of the page lead to what they name: lists of jobs, breakers, other tools. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linksOf } from "../../dashboard/src/screens/jobs/job/links.ts";
import { jobQueryOf } from "../../dashboard/src/screens/jobs/list/job-query.ts";
import { linkFault } from "../../src/core/control/link-templates.ts";
import { defineJob, TransientError } from "../../src/index.ts";
import { screensOf, Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** The addresses of all links to lists of jobs on the screen. */
const JOB_LINKS = `[...document.querySelectorAll('a[href^="#/jobs?"]')].map(({ hash }) => hash)`;

describe("links to lists of jobs", () => {
  test("have queries that the query bar understands, on every screen", async (context) => {
    const { mill } = stage.scene;
    const held = defineJob({ type: "links.held" });
    const tags = { "user id": "7", area: "north", 'a"b': "c d", "a:b": "c" };
    const tagged = await mill.enqueue(held, undefined, { tenant: "held", tags });
    await mill.pause({ tenant: "held" }, "unpaid", { actor: "ada" });
    await using watched = await stage.page(context);
    const screens = {
      ...screensOf(stage.scene),
      "Held tenant": "tenants/held",
      "Tagged job": `jobs/${tagged.id}`,
    };
    const wrong: string[] = [];
    let count = 0;

    for (const [name, path] of Object.entries(screens)) {
      await watched.show(path);
      const links: readonly string[] = await watched.page.evaluate(JOB_LINKS);
      for (const link of links) {
        const q = new URLSearchParams(link.replace(/^.*?\?/, "")).get("q") ?? "";
        const found = jobQueryOf(q, Date.now()).wrong;
        if (found.length > 0) wrong.push(`${name}: ${q}: ${found[0]?.message ?? ""}`);
        count += 1;
      }
    }

    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });
});

describe("links to a breaker", () => {
  test("open the breaker of the service, and not another one", async (context) => {
    const { mill } = stage.scene;
    const services = ["links bank/1", "links mail"] as const;
    const calls = services.map((service, at) =>
      defineJob({ type: `links.call${at}`, services: [service] }).run(() => {}),
    );
    // A worker declares which services a type calls.
    const worker = mill.work({ jobs: calls, signals: false });
    await worker.ready;
    await worker.stop();
    for (const service of services) {
      await mill.breakers.forceOpen(service, "maintenance", { actor: "ada" });
    }
    const waiting = await mill.enqueueMany(calls.map((each) => each.of()));
    await using watched = await stage.page(context);
    const { page } = watched;

    for (const [at, service] of services.entries()) {
      await watched.show(`jobs/${waiting[at]?.id ?? ""}`);
      await page.getByRole("link", { name: "Show the breaker" }).click();
      await page.getByRole("heading", { name: `History of ${service}` }).waitFor();
      expect(page.url()).toBe(`${watched.origin}/#/breakers/${encodeURIComponent(service)}`);
    }
  });

  test("lead from an error that names its service", async (context) => {
    const { mill } = stage.scene;
    const failing = defineJob({ type: "links.failing", maxAttempts: 1 }).run(() => {
      throw new TransientError("the post is closed", { service: "links post" });
    });
    const job = await mill.enqueue(failing);
    await using worker = mill.work({ jobs: [failing], signals: false });
    await worker.ready;
    await mill.wait(job);
    await using watched = await stage.page(context);
    await watched.show(`jobs/${job.id}`);

    await watched.page.getByRole("link", { name: "service links post" }).first().click();

    await watched.page.getByRole("heading", { level: 1, name: "Breakers" }).waitFor();
    expect(watched.page.url()).toBe(`${watched.origin}/#/breakers/links%20post`);
  });
});

test("the page fills every name that a template may have, and no other", () => {
  const [, ...names] = linkFault("https://a.example/{unknown}")?.match(/\{[\w.]+\}/g) ?? [];
  const job = {
    id: "01K",
    type: "email",
    tenant: "acme",
    correlationId: "c1",
    parentId: "01P",
    tags: { NAME: "north" },
    payload: { PATH: 42 },
  };

  expect(names).toHaveLength(7);
  for (const name of names) {
    const template = `https://a.example/${name}`;
    expect(linkFault(template)).toBeNull();
    expect(linksOf({ there: template }, job)).toHaveLength(1);
  }
  expect(linkFault("https://a.example/{lane}")).toContain("not known");
});
