import { describe, expect, test } from "vitest";
import { Errands, type Errand } from "./dependency-tasks.ts";

const awaited: Errand = { dependants: [], isAwaited: true };
const added = (...dependants: readonly number[]): Errand => ({ dependants, isAwaited: false });

/** Errands that wait to be let go, one after the other. */
function makeErrands() {
  const begun: { readonly errand: Errand; readonly over: PromiseWithResolvers<void> }[] = [];
  const errands = new Errands((errand) => {
    const over = Promise.withResolvers<void>();
    begun.push({ errand, over });
    return over.promise;
  });
  return { errands, begun };
}

describe("errands", () => {
  test("go one at a time, and what comes meanwhile goes together", async () => {
    const { errands, begun } = makeErrands();
    errands.add(added(1));
    await Promise.resolve();
    errands.add(added(2));
    errands.add(awaited);
    errands.add(added(3));
    const done = errands.done();
    expect(begun.map(({ errand }) => errand)).toEqual([added(1)]);

    begun[0]?.over.resolve();
    await expect.poll(() => begun).toHaveLength(2);
    begun[1]?.over.resolve();

    await done;
    expect(begun[1]?.errand).toEqual({ dependants: [2, 3], isAwaited: true });
  });

  test("are done when those are that were there, whatever comes later", async () => {
    const { errands, begun } = makeErrands();
    errands.add(awaited);
    const done = errands.done();
    await Promise.resolve();
    errands.add(added(7));

    begun[0]?.over.resolve();

    await done;
    expect(begun.map(({ errand }) => errand)).toContainEqual(awaited);
  });

  test("go on after one that failed", async () => {
    const { errands, begun } = makeErrands();
    errands.add(awaited);
    await Promise.resolve();
    errands.add(added(1));

    begun[0]?.over.reject(new Error("the line is dead"));
    await expect.poll(() => begun).toHaveLength(2);
    begun[1]?.over.resolve();

    await expect(errands.done()).resolves.toBeUndefined();
  });
});
