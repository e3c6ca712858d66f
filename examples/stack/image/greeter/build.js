import { mkdirSync, writeFileSync } from "node:fs";

import { greet } from "./greet.js";

mkdirSync("dist", { recursive: true });
writeFileSync("dist/greeting.txt", `${greet("world")}\n`);
