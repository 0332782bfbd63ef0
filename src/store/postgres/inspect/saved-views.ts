/** saveView, removeView and savedViews. */
import { viewChanged } from "../../shared/audit/drafts.ts";
import {
  insistOnViewRoom,
  savedViewRecord,
  tenantColumn,
} from "../../shared/control/saved-views.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import {
  SAVED_VIEWS_MAX,
  type NewSavedView,
  type SavedViewKey,
  type SavedViewRecord,
} from "../../types/saved-views.ts";
import { writeAudits } from "../audit/write.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

/** Two people who save the last view at the same moment may exceed the maximum by one. */
export async function saveView(
  session: Session,
  view: NewSavedView,
  reason: string | null = null,
): Promise<void> {
  const { name, screen, query, by } = view;
  const tenant = tenantColumn(view.tenant);
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (own) => {
      const others = await own.get("count_saved_views", { tenant, name, max: SAVED_VIEWS_MAX });
      insistOnViewRoom(others?.count ?? 0);
      const before = await own.get("find_saved_view", { tenant, name });
      await own.run("put_saved_view", { tenant, name, screen, query, by });
      if (before?.screen === screen && before.query === query) return;
      const screens = { before: before?.screen ?? null, after: screen };
      await writeAudits(own, [viewChanged(view, { by, reason }, screens)], isRepeat);
    }),
  );
}

export async function removeView(
  session: Session,
  view: SavedViewKey,
  act: Act = NO_ACT,
): Promise<boolean> {
  const key = { tenant: tenantColumn(view.tenant), name: view.name };
  return session.transaction(async (own) => {
    const before = await own.get("find_saved_view", key);
    if (before === undefined) return false;
    await own.run("delete_saved_view", key);
    await writeAudits(own, [viewChanged(view, act, { before: before.screen, after: null })]);
    return true;
  });
}

export async function savedViews(
  { read }: Session,
  tenant: string | null,
): Promise<readonly SavedViewRecord[]> {
  const whose = { tenant: tenantColumn(tenant), max: SAVED_VIEWS_MAX };
  return (await read.all("list_saved_views", whose)).map((row) => savedViewRecord(tenant, row));
}
