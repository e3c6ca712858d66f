/** Ask the Worker of this example whether programs can be parsed. */
import { ApiError, call, run } from "../sandbox_api.ts";

run(async () => {
  for (const program of ["console.log(6 * 7)", "console.log(6 * )"]) {
    const found = await call<{ ok: boolean; problem?: string }>("POST", "/check", { program });
    console.log(program, "->", found);
  }
  try {
    await call("POST", "/check", { source: "a field that it does not know" });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log(error.message);
  }
});
