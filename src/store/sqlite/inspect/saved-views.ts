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
import type { Session } from "../database/session.ts";

export function saveView(session: Session, view: NewSavedView, reason: string | null = null): void {
  const { sql, clock } = session;
  const { name, screen, query, by } = view;
  const tenant = tenantColumn(view.tenant);
  const others = sql.get("count_saved_views", { tenant, name, max: SAVED_VIEWS_MAX });
  insistOnViewRoom(others?.count ?? 0);
  const before = sql.get("find_saved_view", { tenant, name });
  sql.run("put_saved_view", { tenant, name, screen, query, by, now: clock.now() });
  if (before?.screen === screen && before.query === query) return;
  const screens = { before: before?.screen ?? null, after: screen };
  writeAudits(session, [viewChanged(view, { by, reason }, screens)]);
}

export function removeView(session: Session, view: SavedViewKey, act: Act = NO_ACT): boolean {
  const { sql } = session;
  const key = { tenant: tenantColumn(view.tenant), name: view.name };
  const before = sql.get("find_saved_view", key);
  if (before === undefined) return false;
  sql.run("delete_saved_view", key);
  writeAudits(session, [viewChanged(view, act, { before: before.screen, after: null })]);
  return true;
}

export function savedViews({ sql }: Session, tenant: string | null): SavedViewRecord[] {
  const whose = { tenant: tenantColumn(tenant), max: SAVED_VIEWS_MAX };
  return sql.all("list_saved_views", whose).map((row) => savedViewRecord(tenant, row));
}
