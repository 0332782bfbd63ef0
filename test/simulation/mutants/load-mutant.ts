/**
 * Preloaded with `node --import`: plants the mutant that the environment names into the source as
 * it is loaded.
 */
import { registerHooks } from "node:module";
import { mutants, type Mutant } from "./all.ts";
import { plantedSource } from "./plant.ts";

const wanted = process.env["MILLRACE_MUTANT"];
const mutant = mutants.find(({ name }) => name === wanted);
if (mutant !== undefined) plant(mutant);
else if (wanted !== undefined) throw new Error(`there is no mutant "${wanted}"`);

function plant(chosen: Mutant): void {
  const { file, source } = plantedSource(chosen);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === file.href ? { ...loaded, source } : loaded;
    },
  });
}
