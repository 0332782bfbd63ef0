/** The services as plain functions: no queue, no worker. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { renderDashboard } from "../src/dashboard.ts";
import { rowsOf } from "../src/database.ts";
import { updateEdition, type EditionUpdate } from "../src/editions.ts";
import { readPage } from "../src/edge.ts";
import { buildFolder, editionFolder, siteFolder } from "../src/folders.ts";
import { catalogBuild } from "../src/inventory.ts";
import { getBuild, getProject, type Build } from "../src/records.ts";
import { addOrganization, addProject } from "../src/registration.ts";
import { fill } from "../src/template.ts";
import { evaluateTracking } from "../src/tracking.ts";
import { World } from "./world.ts";

const { signal } = new AbortController();
const HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

describe("inventory, without queue and worker (000-02, 000-36)", () => {
  test("has key, content hash, content type and size of every object", async () => {
    await using world = new World();
    const build = await world.build("main");
    await writeFile(join(buildFolder(world.docs.folders, build), "hello.txt"), "hello");

    await catalogBuild(world.docs, build);

    expect(objectsOf(world, build)).toContainEqual({
      key: "hello.txt",
      content_hash: HELLO_SHA256,
      content_type: "text/plain",
      size: 5,
    });
    expect(objectsOf(world, build)).toHaveLength(6);
  });

  test("taken again, follows what has changed, and leaves no row behind", async () => {
    await using world = new World();
    const build = await world.build("main");
    const folder = buildFolder(world.docs.folders, build);
    await catalogBuild(world.docs, build);
    const before = objectsOf(world, build);
    await catalogBuild(world.docs, build);
    expect(objectsOf(world, build)).toEqual(before);

    await writeFile(join(folder, "index.html"), "new");
    await rm(join(folder, "guide/1.html"));
    const { objects } = await catalogBuild(world.docs, build);

    expect(objects).toBe(before.length - 1);
    expect(objectsOf(world, build).map(({ key }) => key)).not.toContain("guide/1.html");
    expect(objectsOf(world, build)).toContainEqual(
      expect.objectContaining({ key: "index.html", size: 3 }),
    );
  });
});

describe("tracking, without queue and worker (000-02, 000-36)", () => {
  test("makes editions for the default branch, a ticket, a release and its stream", async () => {
    await using world = new World();
    const affected = async (ref: string): Promise<string[]> =>
      evaluateTracking(world.docs, await world.build(ref)).map(({ slug }) => slug);

    expect(await affected("main")).toEqual(["__main"]);
    expect(await affected("tickets/DM-12345")).toEqual(["DM-12345"]);
    expect(await affected("v2.1.0")).toEqual(["v2.1.0", "v2.x"]);
    expect(await affected("v3.0.0-rc.1")).toEqual(["v3.0.0-rc.1"]);
    expect(await affected("../../etc")).toEqual(["etc"]);
  });

  test("says the same when it is asked again", async () => {
    await using world = new World({ followers: ["latest", "stable"] });
    const build = await world.build("main");

    const once = evaluateTracking(world.docs, build);

    expect(once.map(({ slug }) => slug)).toEqual(["__main", "latest", "stable"]);
    expect(evaluateTracking(world.docs, build)).toEqual(once);
  });

  test("lets a stream go to the highest release, not to the latest build", async () => {
    await using world = new World();
    await publish(world, await world.build("v2.10.0"));
    const backport = await world.build("v2.9.1");

    expect(evaluateTracking(world.docs, backport).map(({ slug }) => slug)).toEqual(["v2.9.1"]);
  });
});

describe.each(["pointer", "copy"] as const)("an edition in %s mode (000-52)", (editionMode) => {
  test("shows the new build to readers that had the old one in the cache", async () => {
    await using world = new World({ editionMode });
    const [first, second] = [await world.build("main"), await world.build("main")];
    const read = (): Promise<string> =>
      readPage(world.docs, world.project, { slug: "__main", key: "index.html" });
    await publish(world, first);
    expect(await read()).toContain(`Build ${first.id} of main`);

    await publish(world, second);

    expect(await read()).toContain(`Build ${second.id} of main`);
    expect(world.history).toEqual([`__main ${first.id}`, `__main ${second.id}`]);
  });
});

describe("an edition in pointer mode", () => {
  test("is unchanged when it is moved to the same build again", async () => {
    await using world = new World();
    const build = await world.build("main");
    await publish(world, build);

    const [again] = await publish(world, build);

    expect(again).toEqual({ outcome: "unchanged", writes: 0 });
    expect(world.history).toEqual([`__main ${build.id}`]);
  });

  test("never goes back to an older build by tracking, but by an admin", async () => {
    await using world = new World();
    const [older, newer] = [await world.build("main"), await world.build("main")];
    await publish(world, newer);
    const { id } = world.edition("__main");

    const tracked = await updateEdition(world.docs, id, older, { by: "tracking", signal });
    const asked = await updateEdition(world.docs, id, older, { by: "admin", signal });

    expect(tracked.outcome).toBe("superseded");
    expect(asked.outcome).toBe("moved");
    expect(world.history).toEqual([`__main ${newer.id}`, `__main ${older.id}`]);
  });
});

describe("an edition in copy mode (000-52)", () => {
  test("copies what differs, pages last, then removes, pages first", async () => {
    const paced: string[] = [];
    await using world = new World({ editionMode: "copy", pace: (what) => void paced.push(what) });
    await publish(world, await world.build("main", 3));
    paced.length = 0;

    const [update] = await publish(world, await world.build("main", 1));

    // The logo and the first chapter are the same in both.
    expect(paced).toEqual([
      "__main + assets/style.css",
      "__main + index.html",
      "__main − guide/3.html",
      "__main − guide/2.html",
    ]);
    expect(update).toEqual({ outcome: "moved", writes: 4 });
    const folder = editionFolder(world.docs.folders, world.project, "__main");
    expect(existsSync(join(folder, "guide/3.html"))).toBe(false);
  });

  test("that was cut off in the middle of a copy ends as if it had not been", async () => {
    let left = 3;
    const pace = (): void => {
      left -= 1;
      if (left === 0) throw new Error("cut off");
    };
    await using world = new World({ editionMode: "copy", pace });
    const build = await world.build("main");

    await expect(publish(world, build)).rejects.toThrow("cut off");
    expect(world.history).toEqual([]);
    await publish(world, build);

    const page = { slug: "__main", key: "guide/2.html" };
    expect(await readPage(world.docs, world.project, page)).toContain("Chapter 2");
    expect(world.history).toEqual([`__main ${build.id}`]);
  });
});

describe("the dashboard", () => {
  test("escapes what it shows, and has a 404 page beside it", async () => {
    await using world = new World();
    const { db, folders } = world.docs;
    const id = addProject(db, world.org, { slug: "odd", title: `<script>"Tom" & 'Ann'</script>` });
    const project = getProject(db, id);
    db.prepare("INSERT INTO Build (project_id, git_ref) VALUES (?, ?)").run(id, "<b>{{title}}</b>");
    const build = getBuild(db, Number(db.prepare("SELECT max(id) AS id FROM Build").get()?.["id"]));
    for (const edition of evaluateTracking(world.docs, build)) {
      await updateEdition(world.docs, edition.id, build, { by: "tracking", signal });
    }

    await renderDashboard(world.docs, project);

    const page = await readFile(join(siteFolder(folders, project), "index.html"), "utf8");
    expect(page).toContain("&#60;script&#62;&#34;Tom&#34; &#38; &#39;Ann&#39;&#60;/script&#62;");
    expect(page).toContain("<td>&#60;b&#62;{{title}}&#60;/b&#62;</td>");
    expect(page).not.toMatch(/<script>|<b>/);
    const missing = await readFile(join(siteFolder(folders, project), "404.html"), "utf8");
    expect(missing).toContain(`<a href="builds/${build.id}/index.html">`);
  });

  test("takes the template of the project before that of the organisation", async () => {
    await using world = new World();
    const { db, folders } = world.docs;
    const other = addOrganization(db, { slug: "other", title: "Other", editionMode: "copy" });
    const theirs = getProject(db, addProject(db, other, { slug: "docs", title: "Theirs" }));
    await mkdir(join(folders.templates, "acme", "docs"), { recursive: true });
    await writeFile(join(folders.templates, "acme/dashboard.html"), "organisation: {{title}}");
    await writeFile(join(folders.templates, "acme/404.html"), "organisation: {{title}}");
    await writeFile(join(folders.templates, "acme/docs/404.html"), "project: {{title}}");

    for (const project of [world.project, theirs]) await renderDashboard(world.docs, project);

    const page = (project: typeof theirs, name: string): Promise<string> =>
      readFile(join(siteFolder(folders, project), name), "utf8");
    expect(await page(world.project, "index.html")).toBe("organisation: Docs");
    expect(await page(world.project, "404.html")).toBe("project: Docs");
    expect(await page(theirs, "index.html")).toContain("<h1>Theirs</h1>");
  });

  test("refuses a template that asks for what there is not", () => {
    expect(() => fill("{{secret}}", { values: { title: "Docs" } })).toThrow("secret");
  });
});

/** What the job does with a build, one edition after the other. */
async function publish({ docs }: World, build: Build): Promise<EditionUpdate[]> {
  await catalogBuild(docs, build);
  const updates: EditionUpdate[] = [];
  for (const { id } of evaluateTracking(docs, build)) {
    updates.push(await updateEdition(docs, id, build, { by: "tracking", signal }));
  }
  return updates;
}

function objectsOf({ docs }: World, { id }: Build): { readonly key: string }[] {
  return rowsOf(
    docs.db,
    "SELECT key, content_hash, content_type, size FROM BuildObject WHERE build_id = ? ORDER BY key",
    id,
  );
}
