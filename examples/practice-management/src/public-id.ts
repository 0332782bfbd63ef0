/** Job ids as the firms' systems know them: UUIDs. Millrace takes both forms. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The UUID with the same 128 bits. */
export function uuidOf(id: string): string {
  const number = Array.from(id).reduce(
    (sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)),
    0n,
  );
  const hex = number.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
