/** `mill.views`. */
import type { SavedViews } from "../../api/control/views.ts";
import { anObject, must, type Rule } from "../../api/rules.ts";
import { actOf } from "../../jobs/acted-by.ts";
import { aText, insistOn } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";

const NAME_LENGTH_MAX = 100;
const QUERY_LENGTH_MAX = 4_000;

/** One line that can be part of a path. */
const aViewName = must(
  (value) =>
    typeof value === "string" &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value) &&
    value !== "." &&
    value !== ".." &&
    value.length >= 1 &&
    value.length <= NAME_LENGTH_MAX,
  `a text of 1 to ${NAME_LENGTH_MAX} characters without control characters, and not . or ..`,
);
const aQuery: Rule = (value, place) =>
  value === "" ? null : aText(QUERY_LENGTH_MAX)(value, place);
const A_VIEW = anObject(
  { required: { name: aViewName, screen: aViewName, query: aQuery }, optional: {} },
  'an object such as { name: "failed", screen: "jobs", query: "state=failed" }',
);

export function makeViews(
  store: Pick<JobStore, "savedViews" | "saveView" | "removeView">,
): SavedViews {
  return {
    async list() {
      const found = await store.savedViews(null);
      return found.map(({ by, savedAt, ...view }) => {
        return { ...view, savedBy: by, savedAt: new Date(savedAt) };
      });
    },
    async save(view, by) {
      insistOn("views.save", A_VIEW, view, "");
      const act = actOf("views.save", by);
      const { name, screen, query } = view;
      await store.saveView({ tenant: null, name, screen, query, by: act.by }, act.reason);
    },
    async remove(name, by) {
      insistOn("views.remove", aViewName, name, "name");
      return store.removeView({ tenant: null, name }, actOf("views.remove", by));
    },
  };
}
