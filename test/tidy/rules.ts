/** The house rules. The name of each is also that of its fixture. */
import { honestTests } from "./honest-tests.ts";
import { importDirections } from "./import-directions.ts";
import { obeyedOptions } from "./obeyed-options.ts";
import { privateWords } from "./private-words.ts";
import { publicDoors } from "./public-doors.ts";
import { pureCore } from "./pure-core.ts";
import { quietLibrary } from "./quiet-library.ts";
import { retiredWords } from "./retired-words.ts";
import type { Rule } from "./rule.ts";
import { fileSize, folderSize, functionSize, lineWidth } from "./sizes.ts";
import { sqlForm } from "./sql-form.ts";
import { sqlParity } from "./sql-parity.ts";
import { stateDiagram } from "./state-diagram.ts";
import { timeAndChance } from "./time-and-chance.ts";
import { topLevelAwait } from "./top-level-await.ts";
import { uniqueTypes } from "./unique-types.ts";

export const RULES: readonly { name: string; demands: string; find: Rule }[] = [
  { name: "import-directions", demands: "imports point one way", find: importDirections },
  { name: "file-size", demands: "no file has more than 500 lines", find: fileSize },
  { name: "folder-size", demands: "no folder has more than 20 source files", find: folderSize },
  { name: "function-size", demands: "no function has more than 70 lines", find: functionSize },
  { name: "line-width", demands: "no line of code has more than 100 columns", find: lineWidth },
  { name: "time-and-chance", demands: "clock and dice stay in their port", find: timeAndChance },
  { name: "pure-core", demands: "the core touches nothing", find: pureCore },
  { name: "top-level-await", demands: "no module awaits while it loads", find: topLevelAwait },
  { name: "public-doors", demands: "public doors list their exports", find: publicDoors },
  { name: "quiet-library", demands: "only the command line prints", find: quietLibrary },
  { name: "obeyed-options", demands: "every option is read or refused", find: obeyedOptions },
  { name: "sql-parity", demands: "both SQL dialects say the same", find: sqlParity },
  { name: "sql-form", demands: "SQL keeps its form", find: sqlForm },
  { name: "state-diagram", demands: "the drawn states are the coded ones", find: stateDiagram },
  { name: "unique-types", demands: "a type name is exported once", find: uniqueTypes },
  {
    name: "retired-words",
    demands: "no name is retired, and no text is vague",
    find: retiredWords,
  },
  { name: "private-words", demands: "no file names one machine", find: privateWords },
  { name: "honest-tests", demands: "no test is left out in silence", find: honestTests },
];
