/** What can go wrong with saved views. */
import type { Faults } from "../all.ts";

export const SQLITE_SAVED_VIEW_FAULTS: Faults = {
  savedViews: {
    list_saved_views: [
      ["the tenant is not looked at", "WHERE tenant = :tenant", "WHERE :tenant IS NOT NULL"],
      ["the last name comes first", "ORDER BY name", "ORDER BY name DESC"],
    ],
  },
  saveView: {
    put_saved_view: [
      ["the query stays", "query = excluded.query", "query = query"],
      ["the moment stays", "saved_at = excluded.saved_at", "saved_at = saved_at"],
    ],
    count_saved_views: [
      ["a replaced view needs room", "AND name <> :name", "AND :name = :name"],
      ["there is no maximum", "WHERE tenant", "WHERE 0 AND tenant"],
    ],
  },
  removeView: {
    delete_saved_view: [["the name is not looked at", "AND name = :name", "AND :name = :name"]],
    clear_views: [["the views of a removed tenant stay", "WHERE", "WHERE 0 AND"]],
  },
};

export const POSTGRES_SAVED_VIEW_FAULTS: Faults = {
  savedViews: {
    list_saved_views: [
      ["the tenant is not looked at", "WHERE tenant =", "WHERE '' <="],
      ["the last name comes first", 'COLLATE "C"', 'COLLATE "C" DESC'],
    ],
  },
  saveView: {
    put_saved_view: [["the query stays", "query = excluded.query, ", ""]],
    count_saved_views: [
      ["there is no maximum", "WHERE tenant", "WHERE false AND tenant"],
      ["a replaced view needs room", "AND name <> :name::text", "AND :name::text <> ''"],
    ],
  },
  removeView: {
    delete_saved_view: [
      ["the name is not looked at", "AND name = :name::text", "AND :name::text <> ''"],
    ],
    clear_views: [["the views of a removed tenant stay", "WHERE", "WHERE false AND"]],
  },
};
