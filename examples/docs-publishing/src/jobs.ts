/**
 * The two jobs. What they do is in the services beside this file, which know nothing of jobs; here
 * is only the order in which they are called.
 *
 * Every attempt begins at the beginning and forgets what the last one has told: the services find
 * what is done already, and do not do it again.
 */
import { defineJob, typed, type Context, type JobSettings, type Units } from "millrace";
import { renderDashboard } from "./dashboard.ts";
import type { Docs } from "./docs.ts";
import { updateEdition, type EditionUpdate, type UpdateOptions } from "./editions.ts";
import { catalogBuild } from "./inventory.ts";
import { editionName, getBuild, getEdition, type Build, type Project } from "./records.ts";
import { evaluateTracking } from "./tracking.ts";

const RETRY = {
  maxAttempts: 3,
  onRetry: "restart",
  backoff: { kind: "exponential", base: "2s", jitter: 0.2 },
  timeout: false,
} satisfies JobSettings;

/** A build has been uploaded. */
export const buildProcessing = defineJob({
  type: "build_processing",
  payload: typed<{ buildId: number }>(),
  ...RETRY,
})
  .using<Docs>()
  .phase("inventory", ({ buildId }, ctx) =>
    catalogBuild(ctx.deps, getBuild(ctx.deps.db, buildId), {
      signal: ctx.signal,
      onProgress: (done, total) =>
        void ctx.progress((100 * done) / total, {
          message: `Cataloging ${total.toLocaleString("en")} objects`,
        }),
    }),
  )
  .phase("tracking", ({ buildId }, ctx) => {
    const affected = evaluateTracking(ctx.deps, getBuild(ctx.deps.db, buildId));
    void ctx.progress(100, { message: `${affected.length} editions to update` });
    return affected.map(({ id, slug }) => ({ id, slug }));
  })
  .phase("editions", async ({ buildId }, ctx) => {
    const build = getBuild(ctx.deps.db, buildId);
    return countsOf(await updateEach(ctx, ctx.results.tracking, build, "tracking"));
  })
  .phase("dashboard", ({ buildId }, ctx) =>
    renderAlone(ctx, getBuild(ctx.deps.db, buildId).project),
  );

/** An admin gives an edition another build. Its `concurrencyKey` is the name of the edition. */
export const editionUpdate = defineJob({
  type: "edition_update",
  payload: typed<{ editionId: number; buildId: number }>(),
  ...RETRY,
})
  .using<Docs>()
  .phase("editions", async ({ editionId, buildId }, ctx) => {
    const { db } = ctx.deps;
    return countsOf(
      await updateEach(ctx, [getEdition(db, editionId)], getBuild(db, buildId), "admin"),
    );
  })
  .phase("dashboard", ({ buildId }, ctx) =>
    renderAlone(ctx, getBuild(ctx.deps.db, buildId).project),
  );

type Run = Pick<Context<unknown, Docs>, "deps" | "each" | "progress">;

/** Side by side; one that fails stops no other; and no other run has the same edition meanwhile. */
function updateEach(
  { deps, each, progress }: Run,
  editions: readonly { readonly id: number; readonly slug: string }[],
  build: Build,
  by: UpdateOptions["by"],
): Promise<Units<EditionUpdate>> {
  const nameOf = ({ slug }: { readonly slug: string }): string => editionName(build.project, slug);
  let done = 0;
  return each(
    editions,
    nameOf,
    async ({ id }, { signal }) => {
      const update = await updateEdition(deps, id, build, { by, signal });
      done += 1;
      void progress((100 * done) / editions.length);
      return update;
    },
    { exclusive: nameOf },
  );
}

/** Two jobs of one project take turns: the later one must not be overwritten by the earlier one. */
function renderAlone({ deps, each }: Run, project: Project): Promise<Units<{ editions: number }>> {
  return each(
    [project],
    () => "dashboard",
    () => renderDashboard(deps, project),
    { exclusive: () => `${project.slug}: dashboard` },
  );
}

/** The units themselves are stored one by one. */
function countsOf({ completed, failed }: Units<EditionUpdate>): Record<string, number> {
  const having = (outcome: EditionUpdate["outcome"]): number =>
    completed.filter(({ result }) => result.outcome === outcome).length;
  return {
    moved: having("moved"),
    unchanged: having("unchanged"),
    superseded: having("superseded"),
    failed: failed.length,
  };
}
