/** Every link of every page leads somewhere: in the repository, and in the package. */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../api/children.ts";
import { packedFiles } from "../support/packed-files.ts";
import { anchorsOf, linksOf } from "./markdown.ts";
import { allPages, userPages, type Page } from "./pages.ts";

/** The most lines that a reader of the README meets. */
const README_LINES_MAX = 200;

describe("a link", () => {
  test("leads to a file of the repository, and to a heading of it", async () => {
    const pages = await allPages();
    const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]));

    const broken = relativeLinks(pages).filter(({ path, anchor }) => {
      if (!existsSync(join(ROOT, path))) return true;
      return anchor !== "" && anchors.get(path)?.has(anchor) !== true;
    });

    expect(broken.map(({ place }) => place)).toEqual([]);
  });

  test("of a page in the package leads to a file in the package", async () => {
    const packed = await packedFiles();
    const pages = (await allPages()).filter(({ path }) => packed.includes(path));

    const broken = relativeLinks(pages).filter(({ path }) => !packed.includes(path));

    expect(broken.map(({ place }) => place)).toEqual([]);
  });
});

describe("the package", () => {
  test("has all pages for users, and no decisions", async () => {
    const packed = await packedFiles();
    const missing = (await userPages()).filter(({ path }) => !packed.includes(path));

    expect(missing).toEqual([]);
    expect(packed.filter((path) => path.startsWith("docs/decisions"))).toEqual([]);
  });
});

describe("the index and the README", () => {
  test("link every page of docs", async () => {
    const pages = await userPages();
    const targets = (from: string): readonly string[] =>
      relativeLinks(pages.filter(({ path }) => path === from)).map(({ path }) => path);
    const wanted = pages.map(({ path }) => path).filter((path) => !path.endsWith("README.md"));

    for (const index of ["README.md", "docs/README.md"]) {
      expect(wanted.filter((path) => !targets(index).includes(path))).toEqual([]);
    }
  });

  test("are short", async () => {
    const [readme] = (await userPages()).filter(({ path }) => path === "README.md");

    expect(readme?.text.split("\n").length).toBeLessThan(README_LINES_MAX);
  });
});

interface RelativeLink {
  /** Where the link is, and its target as written. */
  readonly place: string;
  /** The path in the repository that it leads to. */
  readonly path: string;
  readonly anchor: string;
}

function relativeLinks(pages: readonly Page[]): readonly RelativeLink[] {
  return pages.flatMap((page) =>
    linksOf(page.text)
      .filter(({ target }) => !/^(https?|mailto):/.test(target))
      .map(({ line, target }) => {
        const [file = "", anchor = ""] = target.split("#");
        const path = file === "" ? page.path : posix.join(posix.dirname(page.path), file);
        return { place: `${page.path}:${line} ${target}`, path, anchor };
      }),
  );
}
