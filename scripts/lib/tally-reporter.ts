/** A Vitest reporter that writes the numbers of a run to the file named in MILLRACE_TALLY. */
import { writeFileSync } from "node:fs";
import type { TestCase, TestModule, TestSuite } from "vitest/node";

export interface Tally {
  readonly passed: number;
  /** The names of tests, and of files whose hooks or imports broke. */
  readonly failed: readonly string[];
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
      failed: [...inState("failed").map(nameOf), ...modules.flatMap(brokenParts).map(nameOf)],
      skipped: inState("skipped").map((test) => ({ name: test.fullName, reason: reasonOf(test) })),
    };
    writeFileSync(process.env["MILLRACE_TALLY"]!, JSON.stringify(tally));
  }
}

function brokenParts(module: TestModule): (TestModule | TestSuite)[] {
  const parts = [module, ...module.children.allSuites()];
  return parts.filter((part) => part.errors().length > 0);
}

function nameOf(part: TestCase | TestModule | TestSuite): string {
  const file = part.type === "module" ? part.relativeModuleId : part.module.relativeModuleId;
  return part.type === "module" ? file : `${file} > ${part.fullName}`;
}

function reasonOf(test: TestCase): string | null {
  const result = test.result();
  return result.state === "skipped" ? (result.note ?? null) : null;
}
