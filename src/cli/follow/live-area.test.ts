import { describe, expect, test } from "vitest";
import type { Size } from "./render-job.ts";
import { LiveArea } from "./live-area.ts";

describe("a live area", () => {
  test("draws over what it drew before, be that longer or shorter", () => {
    const { area, paper } = open();

    area.draw(["one", "two", "three"]);
    area.draw(["1", "2"]);
    area.draw(["eins", "zwei", "drei"]);

    expect(paper.rows()).toEqual(["eins", "zwei", "drei", ""]);
  });

  test("leaves alone what was there, and what it says above itself", () => {
    const { area, paper } = open();
    paper.write("$ millrace\n");

    area.draw(["one", "two"]);
    area.say("told\n");
    area.draw(["three", "four"]);

    expect(paper.rows()).toEqual(["$ millrace", "told", "three", "four", ""]);
  });

  test("is left as it is in the end, without what was typed below", () => {
    const { area, paper } = open();

    area.draw(["one"]);
    paper.write("^C");
    area.end();
    area.end();
    paper.write("Detached\n");

    expect(paper.rows()).toEqual(["one", "Detached", ""]);
  });

  test("finds its beginning again in a window that has become narrower", () => {
    const { area, paper, size } = open();

    area.draw(["0123456789", "\u001b[31m0123\u001b[39m"]);
    size.width = 4;
    paper.wrapAt(4);
    area.draw(["now"]);

    expect(paper.rows()).toEqual(["now", ""]);
  });

  test("lets no text of a job steer the terminal", () => {
    const { area, paper } = open();

    area.say("a\u001b[2Jb\n");

    expect(paper.rows()).toEqual(["a\ufffd[2Jb", ""]);
  });
});

function open() {
  const paper = new Paper();
  const size: { -readonly [Side in keyof Size]: number } = { width: 40, height: 10 };
  const write = (text: string): void => paper.write(text);
  const area = new LiveArea({ size: () => size, write, paint: (_, text) => text });
  return { area, paper, size };
}

/** As much of a terminal as is made use of. */
class Paper {
  #rows = [""];
  #row = 0;

  write(text: string): void {
    const parts = /\p{Cc}\[(?:(\d+)A|[^A-Za-z]*[A-Za-z])|(.)/gsu;
    for (const [part, up, letter] of text.matchAll(parts)) {
      if (up !== undefined) this.#row -= Number(up);
      else if (part === "\u001b[J") this.#eraseBelow();
      else if (letter !== undefined) this.#put(letter);
    }
  }

  rows(): readonly string[] {
    return this.#rows;
  }

  /** Does what terminals do with long lines when their window becomes narrower. */
  wrapAt(width: number): void {
    const pieces = new RegExp(`.{1,${width}}`, "gu");
    this.#rows = this.#rows.flatMap((row) => (row === "" ? [""] : (row.match(pieces) ?? [])));
    this.#row = this.#rows.length - 1;
  }

  #put(letter: string): void {
    if (letter === "\r") return;
    if (letter !== "\n") {
      this.#rows[this.#row] += letter;
      return;
    }
    this.#row += 1;
    if (this.#row === this.#rows.length) this.#rows.push("");
  }

  #eraseBelow(): void {
    this.#rows.length = this.#row + 1;
    this.#rows[this.#row] = "";
  }
}
