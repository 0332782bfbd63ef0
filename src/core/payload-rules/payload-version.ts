/**
 * The versions of a payload. The code of a type knows one version, and the functions that turn
 * older payloads into it, step by step. A job without a version has the first one.
 */
export const FIRST_VERSION = "1";

const VERSION_LENGTH_MAX = 40;
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,3}$/;

/** What the code of a type says about versions. */
export interface VersionedCode {
  readonly payloadVersion?: string | undefined;
  readonly upcast?: Readonly<Record<string, (payload: any) => unknown>> | undefined;
}

/** A payload of the version that the code knows, or why there is none. */
export type CurrentPayload =
  | { readonly status: "current"; readonly payload: unknown }
  /** A newer release of the code has made the payload. */
  | { readonly status: "newer" }
  /** No function reads payloads of this version. */
  | { readonly status: "unreadable" };

export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value.length <= VERSION_LENGTH_MAX && VERSION.test(value);
}

/** Negative: the first version is older. `1` and `1.0` are the same version. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  for (let part = 0; part < Math.max(left.length, right.length); part += 1) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** What is wrong with the functions for older versions; null: nothing is. */
export function upcastProblem({ payloadVersion, upcast }: VersionedCode): string | null {
  if (upcast === undefined) return null;
  if (payloadVersion === undefined) return "needs payloadVersion, the version that it leads to";
  const versions = Object.keys(upcast);
  const late = versions.find((version) => compareVersions(version, payloadVersion) >= 0);
  if (late !== undefined) return `has version ${late}, which is not older than ${payloadVersion}`;
  const twice = versions.find((version, index) =>
    versions.slice(0, index).some((other) => compareVersions(version, other) === 0),
  );
  return twice === undefined ? null : `has version ${twice} twice`;
}

/** Applies the functions of the payload's version and of all later ones, in their order. */
export function currentPayload(
  { payloadVersion = FIRST_VERSION, upcast = {} }: VersionedCode,
  stored: { readonly version: string | null; readonly payload: unknown },
): CurrentPayload {
  const version = stored.version ?? FIRST_VERSION;
  const age = compareVersions(version, payloadVersion);
  if (age === 0) return { status: "current", payload: stored.payload };
  if (age > 0) return { status: "newer" };
  const steps = Object.entries(upcast)
    .filter(([from]) => compareVersions(from, version) >= 0)
    .toSorted(([one], [other]) => compareVersions(one, other));
  const [first] = steps;
  if (first === undefined || compareVersions(first[0], version) !== 0) {
    return { status: "unreadable" };
  }
  const payload = steps.reduce((older, [, upcastOne]) => upcastOne(older), stored.payload);
  return { status: "current", payload };
}

function partsOf(version: string): readonly number[] {
  return version.split(".").map(Number);
}
