import { describe, expect, test } from "vitest";
import { DependencyTasks, type DependencyTask } from "./dependency-tasks.ts";

const awaited: DependencyTask = { dependants: [], isAwaited: true };
const added = (...dependants: readonly number[]): DependencyTask => ({
  dependants,
  isAwaited: false,
});

/** DependencyTasks that wait to be let go, one after the other. */
function makeDependencyTasks() {
  const begun: {
    readonly dependencyTask: DependencyTask;
    readonly over: PromiseWithResolvers<void>;
  }[] = [];
  const dependencyTasks = new DependencyTasks((dependencyTask) => {
    const over = Promise.withResolvers<void>();
    begun.push({ dependencyTask, over });
    return over.promise;
  });
  return { dependencyTasks, begun };
}

describe("dependencyTasks", () => {
  test("go one at a time, and what comes meanwhile goes together", async () => {
    const { dependencyTasks, begun } = makeDependencyTasks();
    dependencyTasks.add(added(1));
    await Promise.resolve();
    dependencyTasks.add(added(2));
    dependencyTasks.add(awaited);
    dependencyTasks.add(added(3));
    const done = dependencyTasks.done();
    expect(begun.map(({ dependencyTask }) => dependencyTask)).toEqual([added(1)]);

    begun[0]?.over.resolve();
    await expect.poll(() => begun).toHaveLength(2);
    begun[1]?.over.resolve();

    await done;
    expect(begun[1]?.dependencyTask).toEqual({ dependants: [2, 3], isAwaited: true });
  });

  test("are done when those are that were there, whatever comes later", async () => {
    const { dependencyTasks, begun } = makeDependencyTasks();
    dependencyTasks.add(awaited);
    const done = dependencyTasks.done();
    await Promise.resolve();
    dependencyTasks.add(added(7));

    begun[0]?.over.resolve();

    await done;
    expect(begun.map(({ dependencyTask }) => dependencyTask)).toContainEqual(awaited);
  });

  test("go on after one that failed", async () => {
    const { dependencyTasks, begun } = makeDependencyTasks();
    dependencyTasks.add(awaited);
    await Promise.resolve();
    dependencyTasks.add(added(1));

    begun[0]?.over.reject(new Error("the line is dead"));
    await expect.poll(() => begun).toHaveLength(2);
    begun[1]?.over.resolve();

    await expect(dependencyTasks.done()).resolves.toBeUndefined();
  });
});
