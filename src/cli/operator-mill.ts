/** What commands use of a mill, which may be a store or a server. */
import type { RemoteMillrace } from "../remote/remote-mill.ts";

export type OperatorMill = Omit<RemoteMillrace, "actor"> & {
  /** Whom a server takes the caller for. With a store, the command says who acts. */
  readonly actor?: RemoteMillrace["actor"];
};
