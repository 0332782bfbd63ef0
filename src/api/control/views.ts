/** `mill.views`: filters of the screens of the dashboard, saved under a name. */
import type { ActedBy } from "./audit.ts";

export interface SavedViews {
  /**
   * Returns the saved views, by name. A mill of one tenant has the views of the tenant and then
   * those of the installation.
   */
  list(): Promise<readonly SavedView[]>;
  /**
   * Saves a view in place of the one before with this name. A tenant, and the installation, has at
   * most 500: throws OPTION_INVALID for one more.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { views } = test.mill;
   * const failed = { name: "failed mails", screen: "jobs", query: "state=failed&type=email" };
   * await views.save(failed, { actor: "ada" });
   *
   * const [view] = await views.list();
   * assert.equal(view?.query, "state=failed&type=email");
   * assert.equal(await views.remove("failed mails"), true);
   * ```
   */
  save(view: NewView, by?: ActedBy): Promise<void>;
  /** Removes a view. Returns whether there was one. */
  remove(name: string, by?: ActedBy): Promise<boolean>;
}

export interface NewView {
  /** Up to 100 characters. */
  readonly name: string;
  /** The screen that the view is for, such as `jobs`: up to 100 characters. */
  readonly screen: string;
  /** The filter as the screen writes it: up to 4,000 characters. All who see jobs read it. */
  readonly query: string;
}

export interface SavedView extends NewView {
  /** Null: of the installation. */
  readonly tenant: string | null;
  /** The person who saved it last; null: not known, or of the installation. */
  readonly savedBy: string | null;
  readonly savedAt: Date;
}
