/** The page of the queue, as a browser asks for it. */
import { describe, expect, test } from "vitest";
import { serveLivePage } from "../src/live-page.ts";
import { readEvents, type ServerEvent } from "../src/read-events.ts";
import { openScene } from "./support.ts";

describe("the live page", () => {
  test("opens by its link, and shows the queue over server-sent events", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    await using page = await serveLivePage(queue);
    const headers = await signIn(page.link);
    const html = await fetch(new URL("/", page.link), { headers });
    const script = await fetch(new URL("/live-page.js", page.link), { headers });
    const code = await script.text();
    const [, path = ""] = /new EventSource\("([^"]+)"\)/.exec(code) ?? [];
    const stream = await fetch(new URL(path, page.link), { headers });
    const events = eventsOf(stream);
    const first = await events.next();
    const id = await queue.enqueue({ source: scene.tone });
    const names = new Set<string>();
    for await (const { event, data } of events) {
      if (data.data?.id === id) names.add(event);
      if (event === "job:completed") break;
    }

    expect(await html.text()).toContain('<script src="/live-page.js" type="module">');
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    expect(first.value).toMatchObject({ event: "snapshot", data: { jobs: [] } });
    // Every event that tells of a job is one that the page listens for.
    const heard = [...names].filter((name) => code.includes(`"${name}"`));
    expect(heard).toEqual(expect.arrayContaining(["job:started", "job:progress", "job:completed"]));
  });

  test("serves createEventStream, which goes on behind the last id", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    await using page = await serveLivePage(queue);
    const headers = await signIn(page.link);
    const events = eventsOf(await fetch(new URL("/events", page.link), { headers }));
    await events.next();
    const id = await queue.enqueue({ source: scene.tone });
    const { value: enqueued } = await events.next();
    await events.return(undefined);
    await queue.finished(id);
    const again = { ...headers, "last-event-id": enqueued?.id ?? "" };
    const rest = eventsOf(await fetch(new URL("/events", page.link), { headers: again }));
    const { value: behind } = await rest.next();
    await rest.return(undefined);

    expect(enqueued).toMatchObject({ event: "job:enqueued", data: { id } });
    expect(behind).toMatchObject({ event: "job:started", data: { id } });
  });

  test("shows nothing to others, and no values to itself", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    await using page = await serveLivePage(queue);
    const headers = await signIn(page.link);
    const id = await queue.enqueue({ source: scene.tone });
    const ask = async (path: string, more: Record<string, string> = {}): Promise<number> =>
      (await fetch(new URL(path, page.link), { headers: more, redirect: "manual" })).status;
    const api = "/millrace/api/v1";
    const job = await fetch(new URL(`${api}/jobs/${id}`, page.link), { headers });
    const { origin } = new URL(page.link);
    const cancel = await fetch(new URL(`${api}/jobs/${id}/cancel`, page.link), {
      method: "POST",
      headers: { ...headers, origin, "content-type": "application/json" },
      body: "{}",
    });

    expect(await Promise.all(["/", "/events", `${api}/jobs`].map((path) => ask(path)))).toEqual([
      401, 401, 401,
    ]);
    expect(await ask("/?key=wrong")).toBe(303);
    expect(await ask("/", { cookie: "media_queue=wrong" })).toBe(401);
    expect(await ask("/nowhere", headers)).toBe(404);
    expect(await job.json()).toMatchObject({ id, payload: "[redacted]" });
    expect(cancel.status).toBe(403);
    expect(await queue.finished(id)).toMatchObject({ status: "completed" });
  });
});

async function signIn(link: string): Promise<{ cookie: string }> {
  const { headers } = await fetch(link, { redirect: "manual" });
  return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}

function eventsOf({ body }: Response): AsyncGenerator<ServerEvent> {
  if (body === null) throw new Error("the answer has no body");
  return readEvents(body);
}
