/** What a verb keeps between its calls, once for each open store. */
import type { Session } from "./session.ts";

export function keptBy<State>(make: (session: Session) => State): (session: Session) => State {
  const states = new WeakMap<Session, State>();
  return (session) => {
    const known = states.get(session);
    if (known !== undefined) return known;
    const made = make(session);
    states.set(session, made);
    return made;
  };
}
