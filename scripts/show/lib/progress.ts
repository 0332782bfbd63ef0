/** Says how far a long campaign has come. */

const LINES = 4;

/** A listener for the number of what is done: tells a few times on the way, not at the end. */
export function progress(what: string, all: number): (done: number) => void {
  const portion = Math.ceil(all / (LINES + 1));
  return (done) => {
    if (done % portion === 0 && done < all) console.log(`  ${what}: ${done} of ${all}`);
  };
}
