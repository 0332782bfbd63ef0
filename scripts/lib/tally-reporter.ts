/** A Vitest reporter that writes the numbers of a run to the file named in MILLRACE_TALLY. */
import { writeFileSync } from "node:fs";
import type { SerializedError, TestCase, TestModule, TestSuite } from "vitest/node";

export interface Tally {
  readonly passed: number;
  /** The names of tests, and of files whose hooks or imports broke. */
  readonly failed: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly reason: string | null }[];
  /** Of its files, added up: several run at the same time. */
  readonly seconds: number;
}

/** The numbers of one Vitest process. */
export interface BatchTally {
  readonly projects: Readonly<Record<string, Tally>>;
  /** Errors that belong to no test. */
  readonly errors: readonly string[];
}

export default class TallyReporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const byProject = Map.groupBy(modules, (module) => module.project.name);
    const tally: BatchTally = {
      projects: Object.fromEntries([...byProject].map(([name, its]) => [name, tallyOf(its)])),
      errors: errors.map(({ message }) => message.split("\n")[0] ?? ""),
    };
    writeFileSync(process.env["MILLRACE_TALLY"]!, JSON.stringify(tally));
  }
}

function tallyOf(modules: readonly TestModule[]): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string): TestCase[] =>
    tests.filter((test) => test.result().state === state);

  return {
    passed: inState("passed").length,
    // A file or hook that broke kept its tests from running, and counts as one failure.
    failed: [...inState("failed").map(nameOf), ...modules.flatMap(brokenParts).map(nameOf)],
    skipped: inState("skipped").map((test) => ({ name: test.fullName, reason: reasonOf(test) })),
    seconds: modules.reduce((sum, module) => sum + secondsOf(module), 0),
  };
}

function secondsOf(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return (prepareDuration + setupDuration + collectDuration + duration) / 1000;
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
