/** `mill.types`: the types that workers have declared, and what operators override. */
import { aName, anObject, aWholeNumber, isDuration, must } from "../../api/rules.ts";
import type { EnqueueSettings, Types, TypeSettings, TypeView } from "../../api/services/types.ts";
import { ATTEMPTS_BOUNDS, PRIORITY_BOUNDS } from "../../api/settings.ts";
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { actOf } from "../../jobs/acted-by.ts";
import { insistOn } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";
import type { TypeOverride, TypeRecord } from "../../store/types/services.ts";

const SETTINGS = anObject(
  {
    required: {},
    optional: {
      lane: aName,
      priority: aWholeNumber(PRIORITY_BOUNDS),
      maxAttempts: aWholeNumber(ATTEMPTS_BOUNDS),
      timeout: must(
        (value) => value === false || isDuration(value, { minMs: 1 }),
        'a duration such as "5m", or false',
      ),
    },
  },
  "an object such as { priority: 5 }",
);

export function makeTypes(store: Pick<JobStore, "types" | "overrideType">): Types {
  return {
    list: async () => (await store.types()).map(typeView),
    async get(type) {
      const [found] = await store.types(type);
      return found === undefined ? null : typeView(found);
    },
    async override(type, settings, by) {
      insistOn("types.override", aName, type, "type");
      const act = actOf("types.override", by);
      const settled = overrideOf(settings);
      const isKnown = await store.overrideType(type, settled, act.by, act.reason);
      if (isKnown) return;
      throw new MillraceError("TYPE_NOT_FOUND", `no worker has declared the type ${type}`);
    },
    async reset(type, by) {
      insistOn("types.reset", aName, type, "type");
      const act = actOf("types.reset", by);
      return store.overrideType(type, null, act.by, act.reason);
    },
  };
}

function overrideOf(settings: TypeSettings): TypeOverride {
  insistOn("types.override", SETTINGS, settings, "");
  const { lane = null, priority = null, maxAttempts = null, timeout } = settings;
  if (Object.keys(settings).length === 0) {
    throw new MillraceError(
      "OPTION_INVALID",
      "types.override: name lane, priority, maxAttempts or timeout, such as { priority: 5 }",
    );
  }
  return { lane, priority, maxAttempts, timeoutMs: timeoutOf(timeout) };
}

/** The store has 0 for no limit. */
function timeoutOf(timeout: TypeSettings["timeout"]): number | null {
  if (timeout === undefined) return null;
  return timeout === false ? 0 : durationMs(timeout, "timeout");
}

function typeView(record: TypeRecord): TypeView {
  const { payloadSchema, declaredAt, declarations, override, ...plain } = record;
  const { lane, priority, maxAttempts, timeoutMs } = plain;
  const declared = { lane, priority, maxAttempts, timeoutMs };
  return {
    ...plain,
    ...(override !== null && overridden(declared, override)),
    declared,
    override: override === null ? null : overrideView(override),
    payloadSchema: payloadSchema === null ? null : JSON.parse(payloadSchema),
    declaredAt: new Date(declaredAt),
    isDisputed: declarations > 1,
  };
}

function overridden(declared: EnqueueSettings, own: TypeOverride): EnqueueSettings {
  return {
    lane: own.lane ?? declared.lane,
    priority: own.priority ?? declared.priority,
    maxAttempts: own.maxAttempts ?? declared.maxAttempts,
    timeoutMs: own.timeoutMs === null ? declared.timeoutMs : own.timeoutMs || null,
  };
}

function overrideView(own: NonNullable<TypeRecord["override"]>): TypeView["override"] {
  const names = ["lane", "priority", "maxAttempts", "timeoutMs"] as const;
  const settings = names.filter((name) => own[name] !== null);
  return { settings, setBy: own.by, setAt: new Date(own.setAt) };
}
