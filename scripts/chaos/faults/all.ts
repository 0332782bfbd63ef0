/** Every fault, by name. */
import type { Fault, StoreKind } from "../scene.ts";
import { clockJump } from "./clock-jump.ts";
import { crash } from "./crash.ts";
import { cut } from "./cut.ts";
import { deploy } from "./deploy.ts";
import { diskFull } from "./disk-full.ts";
import { halfOpen } from "./half-open.ts";
import { kill } from "./kill.ts";
import { lock } from "./lock.ts";
import { producerKill } from "./producer-kill.ts";
import { readOnly } from "./read-only.ts";
import { stall } from "./stall.ts";
import { terminate } from "./terminate.ts";
import { zombie } from "./zombie.ts";

const ALL: readonly Fault[] = [
  kill,
  producerKill,
  zombie,
  stall,
  deploy,
  clockJump,
  lock,
  diskFull,
  terminate,
  crash,
  cut,
  halfOpen,
  readOnly,
];

export function faultsOf(store: StoreKind): readonly Fault[] {
  return ALL.filter((fault) => fault.store === "any" || fault.store === store);
}
