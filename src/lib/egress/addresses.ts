/** Which addresses belong to the public internet. Every other address is refused. */
import { BlockList, isIP } from "node:net";

/** Special-purpose IPv4 networks: RFC 6890 and its successors. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The metadata and key service of a large provider, whose address looks public.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Parts of 2000::/3 that are no global unicast: Teredo, ORCHID, documentation, 6to4. */
const NOT_PUBLIC_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

const refusedV4 = networks(NOT_PUBLIC_V4, "ipv4");
const refusedV6 = networks(NOT_PUBLIC_V6, "ipv6");
/** All other IPv6 is refused: loopback, mapped and translated IPv4, ULA, link-local, multicast. */
const globalV6 = networks([["2000::", 3]], "ipv6");

/** Whether a request may go to this address. A text that is no plain address is not public. */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  switch (isIP(address)) {
    case 4:
      return !refusedV4.check(address, "ipv4");
    case 6:
      return globalV6.check(address, "ipv6") && !refusedV6.check(address, "ipv6");
    default:
      return false;
  }
}

function networks(
  list: readonly (readonly [string, number])[],
  family: "ipv4" | "ipv6",
): BlockList {
  const blocked = new BlockList();
  for (const [network, bits] of list) blocked.addSubnet(network, bits, family);
  return blocked;
}
