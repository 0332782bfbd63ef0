/** Checks a payload against the rules for its job. Answers all errors at once. */
import { compareVersions, FIRST_VERSION, isVersion } from "./payload-version.ts";
import type { Json } from "../payload.ts";
import { searchPayload, type Finding } from "./detect.ts";
import { SENSITIVE_SETS, type EffectiveRule, type FieldKind } from "./rule.ts";

/** What is wrong with a payload. The message never contains a value of the payload. */
export interface PayloadProblem {
  /** A place in the payload, such as `customer.id`, or an option of the job. */
  readonly path: string;
  /** The part of the rule: `required`, `size`, `forbidden`, `sensitive:…`, `mismatch`, `strict`. */
  readonly rule: string;
  readonly message: string;
}

/** The fields of a job that its payload may repeat. */
export interface JobIdentity {
  readonly tenant: string;
  readonly correlationId: string | null;
  readonly idempotencyKey: string | null;
  readonly payloadVersion: string | null;
  /**
   * The job of a schedule. Each slot has a correlation id of its own and makes one job, so that
   * neither is asked for or compared.
   */
  readonly isScheduled: boolean;
  /**
   * The payload of the job that this job repeats; null: the job repeats none. What that payload
   * said about its job was accepted, and may stay. A version may stay as long as the job has it.
   */
  readonly repeats: {
    readonly payload: Json | undefined;
    readonly payloadVersion: string | null;
  } | null;
}

export interface PayloadVerdict {
  readonly errors: readonly PayloadProblem[];
  readonly warnings: readonly PayloadProblem[];
  /** The places whose values are replaced before the payload is stored. */
  readonly redactions: readonly Finding[];
}

/** A payload above this size earns a warning, unless a rule says otherwise. */
const SOFT_BYTES_DEFAULT = 10_240;

/** What stands in place of a redacted value. */
const REDACTED = "[redacted]";

/** The tenant of jobs without one. */
const NO_TENANT = "default";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const KIND_WORDS: Readonly<Record<FieldKind, string>> = {
  any: "a value",
  integer: "a whole number",
  uuid: "a UUID",
  string: "a text",
};

/** `job` null: the payload is checked without a job, and nothing is compared. */
export function checkPayload(
  payload: Json | undefined,
  bytes: number,
  rule: EffectiveRule,
  job: JobIdentity | null,
): PayloadVerdict {
  const errors = [
    ...requiredErrors(payload, rule, job),
    ...(job === null ? [] : [...mismatches(payload, job), ...strictErrors(rule, job)]),
  ];
  const warnings: PayloadProblem[] = [];
  const size = sizeProblem(bytes, rule);
  if (size !== null) (size.isError ? errors : warnings).push(size.problem);
  const redactions = search(payload, rule, { errors, warnings });
  return { errors, warnings, redactions };
}

/** A copy of the payload in which the values at these places are replaced. */
export function redacted(payload: Json, places: readonly Pick<Finding, "steps">[]): Json {
  if (places.some(({ steps }) => steps.length === 0)) return REDACTED;
  const copy: Json = structuredClone(payload);
  for (const { steps } of places) replaceAt(copy, steps);
  return copy;
}

/** A warning about a payload without rules, or null. */
export function softWarning(bytes: number): PayloadProblem | null {
  if (bytes <= SOFT_BYTES_DEFAULT) return null;
  return sizeMessage(bytes, SOFT_BYTES_DEFAULT, "more than the recommended");
}

function requiredErrors(
  payload: Json | undefined,
  { required }: EffectiveRule,
  job: JobIdentity | null,
): PayloadProblem[] {
  return required
    .filter(({ path }) => job === null || isAsked(path, job))
    .flatMap(({ path, kind }) => {
      const value = valueAt(payload, path);
      if (value === undefined || value === null || value === "") {
        return [{ path, rule: "required", message: `${path} is missing` }];
      }
      if (isOfKind(kind, value)) return [];
      return [{ path, rule: "required", message: `${path} must be ${KIND_WORDS[kind]}` }];
    });
}

/** A job may repeat one that was accepted without the fields of a request. */
function isAsked(path: string, { isScheduled, repeats }: JobIdentity): boolean {
  if (!OF_REQUEST.includes(path)) return true;
  if (isScheduled) return false;
  return repeats === null || valueAt(repeats.payload, path) !== undefined;
}

function isOfKind(kind: FieldKind, value: Json): boolean {
  switch (kind) {
    case "any":
      return true;
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value);
    case "uuid":
      return typeof value === "string" && UUID.test(value);
    case "string":
      return typeof value === "string";
  }
}

/** Fields that belong to one request, and not to the slots of a schedule. */
const OF_REQUEST: readonly string[] = ["correlation_id", "idempotency_key"];

/** Fields of the payload that say something else than the job. */
function mismatches(payload: Json | undefined, job: JobIdentity): PayloadProblem[] {
  const own: readonly (readonly [string, string | null, string])[] = [
    ["tenant_id", job.tenant, "tenant"],
    ...(job.isScheduled
      ? []
      : ([
          ["correlation_id", job.correlationId, "correlationId"],
          ["idempotency_key", job.idempotencyKey, "idempotencyKey"],
        ] as const)),
    ["payload_version", job.payloadVersion ?? FIRST_VERSION, "payloadVersion"],
  ];
  return own.flatMap(([path, expected, option]) => {
    const value = valueAt(payload, path);
    if (value === undefined || value === null || isSame(path, value, expected)) return [];
    if (value === acceptedBefore(job, path)) return [];
    const owner = expected === null ? `has no ${option}` : `has another ${option}`;
    const message = `${path} differs from the job, which ${owner}: the option ${option} counts`;
    return [{ path, rule: "mismatch", message }];
  });
}

/** What the payload of the repeated job says there; undefined: nothing that may stay. */
function acceptedBefore({ repeats, payloadVersion }: JobIdentity, path: string): Json | undefined {
  if (repeats === null) return undefined;
  // A payload that was written now has the version of today, and no function turns it into that.
  const isOutdated = path === "payload_version" && repeats.payloadVersion !== payloadVersion;
  return isOutdated ? undefined : valueAt(repeats.payload, path);
}

/** Tenants are texts for the store, and may be numbers in a payload. */
function isSame(path: string, value: Json, expected: string | null): boolean {
  if (typeof value !== "string" && typeof value !== "number") return false;
  const text = String(value);
  if (text === expected) return true;
  if (path === "correlation_id") return text.toLowerCase() === expected?.toLowerCase();
  const areVersions = path === "payload_version" && isVersion(text) && isVersion(expected);
  return areVersions && compareVersions(text, expected) === 0;
}

function strictErrors({ strict }: EffectiveRule, job: JobIdentity): PayloadProblem[] {
  // Nothing but its payload can change when a job is repeated.
  if (!strict || job.repeats !== null) return [];
  const errors: PayloadProblem[] = [];
  const problem = (path: string, message: string): void => {
    errors.push({ path, rule: "strict", message });
  };
  if (job.tenant === NO_TENANT) problem("options.tenant", "the tenant of the job is missing");
  if (job.isScheduled) return errors;
  if (job.correlationId === null) {
    problem("options.correlationId", "the correlation id of the job is missing");
  } else if (!UUID.test(job.correlationId)) {
    problem("options.correlationId", "the correlation id of the job must be a UUID");
  }
  return errors;
}

function sizeProblem(
  bytes: number,
  { softBytes, hardBytes }: EffectiveRule,
): { readonly isError: boolean; readonly problem: PayloadProblem } | null {
  if (hardBytes !== null && bytes > hardBytes) {
    return { isError: true, problem: sizeMessage(bytes, hardBytes, "more than the") };
  }
  const soft = softBytes ?? SOFT_BYTES_DEFAULT;
  if (bytes <= soft) return null;
  return { isError: false, problem: sizeMessage(bytes, soft, "more than the recommended") };
}

function sizeMessage(bytes: number, limit: number, than: string): PayloadProblem {
  const message = `the payload has ${bytes} bytes, ${than} ${limit}; refer to objects by their ids`;
  return { path: "payload", rule: "size", message };
}

/** Sorts the findings by the actions of their sets. Answers what is redacted. */
function search(
  payload: Json | undefined,
  { forbidden, sensitive }: EffectiveRule,
  { errors, warnings }: { readonly errors: PayloadProblem[]; readonly warnings: PayloadProblem[] },
): readonly Finding[] {
  const sets = new Set(SENSITIVE_SETS.filter((set) => sensitive[set] !== undefined));
  if (sets.size === 0 && forbidden.length === 0) return [];
  const { findings, isCutShort } = searchPayload(payload, { forbidden, sets });
  const redactions: Finding[] = [];
  for (const finding of findings) {
    const { path, rule, what } = finding;
    const isForbidden = rule === "forbidden";
    const message = isForbidden ? `${path} is ${what}` : `${path} contains ${what}`;
    const problem = { path, rule: isForbidden ? rule : `sensitive:${rule}`, message };
    const action = isForbidden ? "reject" : sensitive[rule];
    if (action === "redact") redactions.push(finding);
    else (action === "reject" ? errors : warnings).push(problem);
  }
  if (isCutShort) {
    const message = "the payload is too large to be searched whole: its end was not looked at";
    warnings.push({ path: "payload", rule: "search", message });
  }
  return redactions;
}

/** The value at a dot path; undefined: there is none. */
function valueAt(payload: Json | undefined, path: string): Json | undefined {
  let value: Json | undefined = payload;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) {
      return undefined;
    }
    const inner: Json | undefined = Reflect.get(value, step);
    value = inner;
  }
  return value;
}

function replaceAt(root: Json, steps: readonly (string | number)[]): void {
  let holder: any = root;
  for (const step of steps.slice(0, -1)) holder = holder[step];
  holder[steps.at(-1)!] = REDACTED;
}
