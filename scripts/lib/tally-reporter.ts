/** A Vitest reporter that writes the numbers of a run to the file named in MILLRACE_TALLY. */
import { writeFileSync } from "node:fs";
import type { TestCase, TestModule } from "vitest/node";

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly name: string; readonly reason: string | null }[];
}

export default class TallyReporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string): TestCase[] =>
      tests.filter((test) => test.result().state === state);

    const tally: Tally = {
      passed: inState("passed").length,
      // A file or hook that broke kept its tests from running, and counts as one failure.
      failed: inState("failed").length + modules.flatMap(brokenParts).length,
      skipped: inState("skipped").map((test) => ({ name: test.fullName, reason: reasonOf(test) })),
    };
    writeFileSync(process.env["MILLRACE_TALLY"]!, JSON.stringify(tally));
  }
}

function brokenParts(module: TestModule): unknown[] {
  const parts = [module, ...module.children.allSuites()];
  return parts.filter((part) => part.errors().length > 0);
}

function reasonOf(test: TestCase): string | null {
  const result = test.result();
  return result.state === "skipped" ? (result.note ?? null) : null;
}
