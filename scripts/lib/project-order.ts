/** Runs the files of a batch in the order of the projects: Vitest would sort them by name. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PROJECTS } from "./projects.ts";

export class ProjectOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is not that of an array.
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => placeOf(left) - placeOf(right));
  }
}

function placeOf({ project }: TestSpecification): number {
  return PROJECTS.findIndex(({ name }) => name === project.name);
}
