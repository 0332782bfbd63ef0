/** Tokens that are made from others while these are revoked. */
import { newToken } from "../support/factories.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import * as judged from "./judgements.ts";
import { pair, type Pair } from "./pair.ts";
import { waiting, type Scene } from "./scenes.ts";
import type { Verb } from "./verbs.ts";

const createChild: Verb = (store, { id }) =>
  store.createToken(newToken({ kind: "session", parentId: id }));
const revoke: Verb = (store, { id }) => store.revokeToken(id);

export const TOKEN_PAIRS: readonly Pair[] = [
  pair("createToken / revokeToken", person, createChild, revoke, async ({ db, right }) => [
    ...judged.complainIf(right !== true, "the token was not revoked"),
    ...judged.complainIf(
      (await db.store.tokens({}, { limit: 10 })).length > 0,
      "a token is valid without its parent",
    ),
  ]),
  pair("revokeToken / the same again", family, revoke, revoke, async ({ db, left, right }) => [
    ...judged.exactlyOne("revoked the token", left === true, right === true),
    ...judged.complainIf(
      (await db.store.tokens({}, { limit: 10 })).length > 0,
      "a token is valid without its parent",
    ),
  ]),
];

/** A token of a person, with the id of the job. */
async function person(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  await db.store.createToken(newToken({ id: scene.id }));
  return scene;
}

/** The same with a session. */
async function family(db: PostgresTestStore): Promise<Scene> {
  const scene = await person(db);
  await db.store.createToken(newToken({ kind: "session", parentId: scene.id }));
  return scene;
}
