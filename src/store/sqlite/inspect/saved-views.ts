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
import type { Session } from "../database/session.ts";

export function saveView({ sql, clock }: Session, view: NewSavedView): void {
  const { name, screen, query, by } = view;
  const tenant = tenantColumn(view.tenant);
  const others = sql.get("count_saved_views", { tenant, name, max: SAVED_VIEWS_MAX });
  insistOnViewRoom(others?.count ?? 0);
  sql.run("put_saved_view", { tenant, name, screen, query, by, now: clock.now() });
}

export function removeView({ sql }: Session, { tenant, name }: SavedViewKey): boolean {
  return sql.run("delete_saved_view", { tenant: tenantColumn(tenant), name }).changes > 0;
}

export function savedViews({ sql }: Session, tenant: string | null): SavedViewRecord[] {
  const whose = { tenant: tenantColumn(tenant), max: SAVED_VIEWS_MAX };
  return sql.all("list_saved_views", whose).map((row) => savedViewRecord(tenant, row));
}
