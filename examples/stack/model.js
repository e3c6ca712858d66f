/**
 * A STAND-IN for a language model, so that examples run without one: it knows the answers to the questions that they
 * ask and nothing else. It is bound as `AI` and has the one method of Workers AI that the Worker calls; on an account the
 * binding `{type: ai}` takes its place.
 */
import { WorkerEntrypoint } from "cloudflare:workers";

const fenced = (code) => `\`\`\`\n${code}\n\`\`\``;

const WITH_A_MISTAKE = `const primes = [];
for (let n = 2; primes.length < 10; n++) if (isPrime(n)) primes.push(n);
console.log(primes.join(" "));`;
const CORRECTED = `const isPrime = (n) => primes.every((prime) => n % prime > 0);
${WITH_A_MISTAKE}`;

function answer(messages) {
  const last = messages.at(-1).content;
  if (last.startsWith("It failed")) return fenced(CORRECTED);
  if (last.includes("primes")) return fenced(WITH_A_MISTAKE);
  if (last.startsWith("exit code 0")) return `The sandbox says ${last.split("\n")[1]}.`;
  if (last.includes("add them up")) return fenced("seq 1 10 > numbers && echo $(( $(paste -sd+ numbers) ))");
  if (last.includes("How many")) return fenced("wc -l < numbers");
  return "I am a stand-in and do not know.";
}

export class Model extends WorkerEntrypoint {
  run(_name, { messages }) {
    return { response: answer(messages) };
  }
}

export default { fetch: () => new Response("A stand-in model: bind its entrypoint Model.\n", { status: 404 }) };
