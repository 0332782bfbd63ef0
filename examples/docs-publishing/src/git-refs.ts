/** Which editions follow a git ref: pure, so that a second look always says the same. */

/** `main`: the default branch. `git_ref`: one ref. `semver_major`: the releases of one major. */
export type TrackingMode = "main" | "git_ref" | "semver_major";

/** An edition as far as tracking is concerned. */
export interface Tracked {
  readonly slug: string;
  readonly trackingMode: TrackingMode;
  readonly trackedRef: string;
}

export interface TrackingRules {
  readonly defaultRef: string;
  readonly trackingModes: readonly TrackingMode[];
  readonly rewritePrefix: string;
}

/** A build as far as tracking is concerned. Later builds have higher ids. */
export interface Tracker {
  readonly id: number;
  readonly gitRef: string;
}

/** The editions that a ref asks for, whether or not they are there. */
export function wantedEditions(gitRef: string, rules: TrackingRules): Tracked[] {
  return rules.trackingModes.flatMap((trackingMode) => {
    const wanted = wantedBy(trackingMode, gitRef, rules);
    return wanted === null ? [] : [{ trackingMode, ...wanted }];
  });
}

/** Whether an edition that shows `current` is to show this build instead. */
export function isToShow(edition: Tracked, current: Tracker | null, build: Tracker): boolean {
  if (!follows(edition, build.gitRef)) return false;
  if (current === null) return true;
  if (edition.trackingMode !== "semver_major") return build.id >= current.id;
  const order = compareVersions(versionOf(build.gitRef), versionOf(current.gitRef));
  return order > 0 || (order === 0 && build.id >= current.id);
}

function wantedBy(
  mode: TrackingMode,
  gitRef: string,
  { defaultRef, rewritePrefix }: TrackingRules,
): Omit<Tracked, "trackingMode"> | null {
  switch (mode) {
    case "main":
      return gitRef === defaultRef ? { slug: "__main", trackedRef: gitRef } : null;
    case "semver_major": {
      const major = versionOf(gitRef)?.[0];
      return major === undefined ? null : { slug: `v${major}.x`, trackedRef: String(major) };
    }
    case "git_ref": {
      if (gitRef === defaultRef) return null;
      const slug = slugOf(gitRef, rewritePrefix);
      return slug === "" ? null : { slug, trackedRef: gitRef };
    }
  }
}

function follows({ trackingMode, trackedRef }: Tracked, gitRef: string): boolean {
  if (trackingMode !== "semver_major") return trackedRef === gitRef;
  return String(versionOf(gitRef)?.[0]) === trackedRef;
}

/** `tickets/DM-12345` is `DM-12345` where the organisation leaves `tickets/` out. */
function slugOf(gitRef: string, rewritePrefix: string): string {
  const rest = gitRef.startsWith(rewritePrefix) ? gitRef.slice(rewritePrefix.length) : gitRef;
  return rest.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
}

type Version = readonly [number, number, number];

/** Releases only: a pre-release belongs to no stream. */
function versionOf(gitRef: string): Version | null {
  const match = /^v?(\d+)\.(\d+)\.(\d+)$/.exec(gitRef);
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** What is no version is older than any. */
function compareVersions(left: Version | null, right: Version | null): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  for (const [index, part] of left.entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
