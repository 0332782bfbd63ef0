/**
 * The language of the browser. A system without a language calls it `C` or `en-US@posix`, which
 * `Intl` refuses; uPlot asks for it as soon as it is loaded, and would end the page.
 */

/** A name that `Intl` accepts: the name itself, the part of it that is one, or English. Pure. */
export function safeLocale(name: string | undefined): string {
  const parts = [name, name?.split(/[@.]/)[0]?.replaceAll("_", "-")];
  return parts.find((each) => each !== undefined && isLocale(each)) ?? "en";
}

function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1;
  } catch {
    return false;
  }
}

/** Before any other module reads it. */
export function repairLocale(): void {
  const value = safeLocale(navigator.language);
  if (value === navigator.language) return;
  Object.defineProperty(navigator, "language", { value, configurable: true });
}
