/** What is said while a show goes on: on stderr, so that its figures stand alone on stdout. */

const LINES = 4;

export function aside(line: string): void {
  process.stderr.write(`  ${line}\n`);
}

/** A listener for the number of what is done: tells a few times on the way, not at the end. */
export function asides(what: string, all: number): (done: number) => void {
  const portion = Math.ceil(all / (LINES + 1));
  return (done) => {
    if (done % portion === 0 && done < all) aside(`${what}: ${done} of ${all}`);
  };
}
