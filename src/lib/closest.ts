/** The known word that is closest to a mistyped word, or `null` when none is close. */
export function closest(word: string, known: readonly string[]): string | null {
  // One wrong letter in three is a typing error; more is another word.
  const slipsMax = Math.ceil(word.length / 3);
  const ranked = known
    .map((candidate) => ({
      candidate,
      slips: distance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ slips }) => slips <= slipsMax)
    .toSorted((a, b) => a.slips - b.slips);
  return ranked[0]?.candidate ?? null;
}

/** The Levenshtein distance of two words. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const exchanged = row[j]! + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(exchanged, row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
