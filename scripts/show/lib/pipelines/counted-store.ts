import { parseDatabaseUrl } from "../../../../src/client/database-url.ts";
import { makeStore } from "../../../../src/make-store.ts";
import type { JobStore } from "../../../../src/store/store.ts";

/** A store that counts how often each of its verbs was called. Its heart beats on the loop. */
export async function countedStore(url: string, calls: Map<string, number>): Promise<JobStore> {
  const real = await makeStore(parseDatabaseUrl(url));
  return new Proxy(real, {
    get(target, name) {
      if (name === "thread") return null;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return Reflect.apply(member, target, args);
      };
    },
  });
}
