/** What both stores do with saved views. */
import { MillraceError } from "../../../core/errors.ts";
import { SAVED_VIEWS_MAX, type SavedViewRecord } from "../../types/saved-views.ts";

interface SavedViewRow {
  readonly name: string;
  readonly screen: string;
  readonly query: string;
  readonly by: string | null;
  readonly saved_at: number;
}

/** The views of the installation have no tenant. */
export function tenantColumn(tenant: string | null): string {
  return tenant ?? "";
}

export function savedViewRecord(tenant: string | null, row: SavedViewRow): SavedViewRecord {
  const { saved_at: savedAt, ...view } = row;
  return { tenant, ...view, savedAt };
}

/** Refuses one view too many. A view that replaces another one always has room. */
export function insistOnViewRoom(others: number): void {
  if (others < SAVED_VIEWS_MAX) return;
  const message = `there are ${SAVED_VIEWS_MAX} saved views: remove one before you save another`;
  throw new MillraceError("OPTION_INVALID", message, { details: { option: "name" } });
}
