/** saveView, removeView and savedViews. */
import {
  insistOnViewRoom,
  savedViewRecord,
  tenantColumn,
} from "../../shared/control/saved-views.ts";
import {
  SAVED_VIEWS_MAX,
  type NewSavedView,
  type SavedViewKey,
  type SavedViewRecord,
} from "../../types/saved-views.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

/** Two people who save the last view at the same moment may exceed the maximum by one. */
export async function saveView(session: Session, view: NewSavedView): Promise<void> {
  const { name, screen, query, by } = view;
  const tenant = tenantColumn(view.tenant);
  await repeating(session.dice, () =>
    session.transaction(async (own) => {
      const others = await own.get("count_saved_views", { tenant, name, max: SAVED_VIEWS_MAX });
      insistOnViewRoom(others?.count ?? 0);
      await own.run("put_saved_view", { tenant, name, screen, query, by });
    }),
  );
}

export async function removeView(
  { write }: Session,
  { tenant, name }: SavedViewKey,
): Promise<boolean> {
  return (await write.run("delete_saved_view", { tenant: tenantColumn(tenant), name })) > 0;
}

export async function savedViews(
  { read }: Session,
  tenant: string | null,
): Promise<readonly SavedViewRecord[]> {
  const whose = { tenant: tenantColumn(tenant), max: SAVED_VIEWS_MAX };
  return (await read.all("list_saved_views", whose)).map((row) => savedViewRecord(tenant, row));
}
