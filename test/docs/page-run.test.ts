/** The runner of pages finds what is wrong with a page. */
import { rm } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { runPage } from "./page-run.ts";

describe("a page that is run", () => {
  test("may write files, run programs and commands, and wait for what they print", async () => {
    const complaints = await complaintsAbout(
      block("ts", '// hello.ts\nexport const hello: string = "Hello";'),
      block("ts", 'import { hello } from "./hello.ts";\nconsole.log(hello); // Hello'),
      block("sh", "{ echo begun; exec sleep 100; } &"),
      `<!-- wait for: begun -->\n\n${block("sh", 'kill -9 "$!"; millrace --version')}`,
      block("text", "0.…"),
    );

    expect(complaints).toEqual([]);
  });

  test("is wrong if a block fails, and the block is named", async () => {
    const complaints = await complaintsAbout(block("sh", "echo before; false; echo behind"));

    expect(complaints).toEqual(["line 1: the block ended with 1:\nbefore\n"]);
  });

  test("is wrong if a program does not compile away, or prints something else", async () => {
    const [failure] = await complaintsAbout(block("ts", "missing();"));
    const [comment] = await complaintsAbout(block("ts", 'console.log("a"); // b'));
    const [output] = await complaintsAbout(block("sh", "echo a"), block("text", "b"));

    expect(failure).toContain("missing is not defined");
    expect(comment).toBe("line 1: the output is not what its comments say:\na\n");
    expect(output).toBe("line 5: the output differs from what is shown:\na\n");
  });

  test("is wrong if a block is neither code nor output", async () => {
    expect(await complaintsAbout(block("python", "print()"))).toEqual([
      "line 1: a block of “python” is neither code nor output",
    ]);
  });
});

function block(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\`\n`;
}

async function complaintsAbout(...parts: readonly string[]): Promise<readonly string[]> {
  const { folder, complaints } = await runPage(parts.join("\n"), null);
  onTestFinished(() => rm(folder, { recursive: true }));
  return complaints;
}
