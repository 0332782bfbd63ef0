import { describe, expect, test } from "vitest";
import { DependencyTasks, type DependencyTask } from "./dependency-tasks.ts";

const awaited: DependencyTask = { dependants: [], isAwaited: true };
const added = (...dependants: readonly number[]): DependencyTask => ({
  dependants,
  isAwaited: false,
});

/** Tasks that the test completes by hand. */
function makeTasks() {
  const started: {
    readonly task: DependencyTask;
    readonly over: PromiseWithResolvers<void>;
  }[] = [];
  const tasks = new DependencyTasks((task) => {
    const over = Promise.withResolvers<void>();
    started.push({ task, over });
    return over.promise;
  });
  return { tasks, started };
}

describe("DependencyTasks", () => {
  test("runs one task at a time and merges tasks added meanwhile", async () => {
    const { tasks, started } = makeTasks();
    tasks.add(added(1));
    await Promise.resolve();
    tasks.add(added(2));
    tasks.add(awaited);
    tasks.add(added(3));
    const done = tasks.done();
    expect(started.map(({ task }) => task)).toEqual([added(1)]);

    started[0]?.over.resolve();
    await expect.poll(() => started).toHaveLength(2);
    started[1]?.over.resolve();

    await done;
    expect(started[1]?.task).toEqual({ dependants: [2, 3], isAwaited: true });
  });

  test("is done when the tasks added so far have run, whatever is added later", async () => {
    const { tasks, started } = makeTasks();
    tasks.add(awaited);
    const done = tasks.done();
    await Promise.resolve();
    tasks.add(added(7));

    started[0]?.over.resolve();

    await done;
    expect(started.map(({ task }) => task)).toContainEqual(awaited);
  });

  test("goes on after a task that failed", async () => {
    const { tasks, started } = makeTasks();
    tasks.add(awaited);
    await Promise.resolve();
    tasks.add(added(1));

    started[0]?.over.reject(new Error("connection lost"));
    await expect.poll(() => started).toHaveLength(2);
    started[1]?.over.resolve();

    await expect(tasks.done()).resolves.toBeUndefined();
  });
});
