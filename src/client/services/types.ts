/** `mill.types`: the types that workers have declared. */
import type { Types, TypeView } from "../../api/services/types.ts";
import type { JobStore } from "../../store/store.ts";
import type { TypeRecord } from "../../store/types/services.ts";

export function makeTypes(store: Pick<JobStore, "types">): Types {
  return {
    list: async () => (await store.types()).map(typeView),
    async get(type) {
      const [found] = await store.types(type);
      return found === undefined ? null : typeView(found);
    },
  };
}

function typeView({ payloadSchema, declaredAt, declarations, ...plain }: TypeRecord): TypeView {
  return {
    ...plain,
    payloadSchema: payloadSchema === null ? null : JSON.parse(payloadSchema),
    declaredAt: new Date(declaredAt),
    isDisputed: declarations > 1,
  };
}
