/**
 * The lines a session's bash is given. The command itself is in a file that is read and evaluated: it may hold anything,
 * and a syntax error in it is its own. Bash reports on descriptor 3, which commands do not get:
 * `f ID` pipes are there, `s ID PID` a background command has begun, `x ID STATUS` a command has ended.
 */
import { ServiceError } from "../errors.ts";
import { quote } from "./quote.ts";

export interface CommandOptions {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  timeoutMs?: number | undefined;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function variables(env: Record<string, string> | undefined): [name: string, value: string][] {
  const pairs = Object.entries(env ?? {});
  for (const [name] of pairs) {
    if (!NAME.test(name)) {
      throw new ServiceError("COMMAND_EXECUTION_ERROR", `Invalid environment variable name: ${name}`, { variable: name });
    }
  }
  return pairs;
}

function exported(pairs: [string, string][]): string {
  return pairs.map(([name, value]) => `export ${name}=${quote(value)}; `).join("");
}

/** Remember what the variables were, in such a way that `restored` can tell unset from empty. */
function remembered(pairs: [string, string][]): string {
  return pairs.map(([name], i) => `__sandbox_had${i}=\${${name}+x} __sandbox_old${i}=\${${name}-}; `).join("");
}

function restored(pairs: [string, string][]): string {
  return pairs
    .map(
      ([name], i) =>
        `if [ -n "$__sandbox_had${i}" ]; then export ${name}="$__sandbox_old${i}"; else unset ${name}; fi; ` +
        `unset __sandbox_had${i} __sandbox_old${i}; `,
    )
    .join("");
}

function changingTo(cwd: string, inside: string): string {
  const complaint = quote(`Failed to change directory to ${quote(cwd)}`);
  return `if builtin cd -- ${quote(cwd)} 2>/dev/null; then ${inside}else builtin printf '%s\\n' ${complaint} >&2; fi; `;
}

/** Read the command. `read` says no where there is no delimiter, which must not end a shell under `set -e`. */
function taken(file: string): string {
  return `IFS= builtin read -r -d '' __sandbox_command <${quote(`${file}.sh`)} || :; `;
}

/** Evaluate the command that was read. */
function evaluated(redirected = ""): string {
  return `eval -- "$__sandbox_command"${redirected}; __sandbox_status=$?; `;
}

/** Run the file in the shell itself: directory, variables and functions stay. */
export function foreground(id: number, file: string, options: CommandOptions): string {
  const pairs = variables(options.env);
  let run = evaluated();
  if (pairs.length > 0) run = remembered(pairs) + exported(pairs) + run + restored(pairs);
  if (options.cwd) {
    run = `__sandbox_pwd=$PWD; ${changingTo(options.cwd, `${run}builtin cd -- "$__sandbox_pwd"; `)}`;
  }
  const streams = `</dev/null >${quote(`${file}.out`)} 2>${quote(`${file}.err`)} 3>&-`;
  return `__sandbox_status=1; ${taken(file)}{ ${run}} ${streams}; builtin printf 'x ${id} %d\\n' "$__sandbox_status" >&3\n`;
}

/**
 * Run the file beside the shell, in a process group of its own (`set -m`), its output going into two named pipes.
 * As in the official server a command that calls `exit` takes the line with it that would report its end.
 */
export function background(id: number, file: string, options: CommandOptions): string {
  const pairs = variables(options.env);
  const [out, err] = [quote(`${file}.out`), quote(`${file}.err`)];
  let run = exported(pairs) + evaluated(" 3>&-");
  if (options.cwd) run = `__sandbox_status=1; ${changingTo(options.cwd, run)}`;
  const begun = `${taken(file)}builtin printf 's ${id} %d\\n' "$BASHPID" >&3; `;
  const ended = `builtin printf 'x ${id} %d\\n' "$__sandbox_status" >&3; `;
  return (
    `mkfifo ${out} ${err}; builtin printf 'f ${id} %d\\n' "$?" >&3; __sandbox_flags=$-; set -m; ` +
    `{ ${begun}${run}${ended}} </dev/null >${out} 2>${err} & ` +
    `case $__sandbox_flags in *m*) ;; *) set +m ;; esac\n`
  );
}
