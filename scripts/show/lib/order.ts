/** The job of the campaigns on PostgreSQL: each names itself, so that a second copy is found. */
import { defineJob, typed } from "millrace";

export interface Order {
  /** Unique among all orders of a campaign. */
  readonly name: string;
  /** How it ends: well, well and with a child, or not. */
  readonly end: "plain" | "parent" | "failure";
  readonly ms: number;
}

/** A failure is the end: what runs twice was doubled, and not tried again. */
export const order = defineJob({ type: "order", payload: typed<Order>(), maxAttempts: 1 });

/** The child that an order with the end `parent` brings into being. */
export function childOf({ name }: Order): Order {
  return { name: `${name}.child`, end: "plain", ms: 0 };
}
