/**
 * Call every operation of the API while the sandboxes' server answers whatever a seed says, and print as JSON what came
 * of it. `node test/hostile/main.ts --answers 20000 --seed 1 --transport http --seconds 600`
 */
import { parseArgs } from "node:util";

import { Fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    answers: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    transport: { type: "string", default: "http" },
    seconds: { type: "string", default: "600" },
    "at-once": { type: "string", default: "12" },
    only: { type: "string", default: "" },
  },
});
const outcome = await Fuzz.run({
  answers: Number(values.answers),
  seed: values.seed,
  transport: values.transport,
  seconds: Number(values.seconds),
  atOnce: Number(values["at-once"]),
  only: values.only,
});
console.log(JSON.stringify(outcome));
process.exit(0);
