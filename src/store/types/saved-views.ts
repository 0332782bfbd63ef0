/** Filters of the screens of the dashboard, saved under a name. */

/** The most views of a tenant, and of the installation. */
export const SAVED_VIEWS_MAX = 500;

export interface SavedViewKey {
  /** Null: of the installation, which all tenants see. */
  readonly tenant: string | null;
  readonly name: string;
}

export interface NewSavedView extends SavedViewKey {
  readonly screen: string;
  readonly query: string;
  readonly by: string | null;
}

export interface SavedViewRecord extends NewSavedView {
  readonly savedAt: number;
}
