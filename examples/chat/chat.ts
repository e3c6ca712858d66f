/** Talk to an agent that has a sandbox: the conversation keeps its files and what was said. */
import { ApiError, call, run } from "../sandbox_api.ts";

const CONVERSATION = "/v1/conversations/example";
const QUESTIONS = ["Write the numbers from 1 to 10 to a file and add them up.", "How many numbers were that?"];

run(async () => {
  try {
    for (const message of QUESTIONS) {
      const said = await call<{ answer: string; commands: number }>("POST", `${CONVERSATION}/messages`, {
        message,
        max_commands: 3,
      });
      console.log(`you:   ${message}\nagent: ${said.answer} (${said.commands} command)`);
    }
    const { messages } = await call<{ messages: unknown[] }>("GET", CONVERSATION);
    console.log(`${messages.length} messages are kept`);
  } finally {
    await call("DELETE", CONVERSATION);
  }
  try {
    await call("GET", CONVERSATION);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log(`afterwards: ${error.code}`);
  }
});
