import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { redactValue } from '@rookery/platform';
import type { BootContext, Command } from '@rookery/platform';
import { DeadLetters } from './dead-letters';
import type { LetterRow } from './dead-letters';

const USAGE = `usage:
  dead-letters list [--effect <name of effect or job>] [--state retrying|open|replaying|replayed|discarded] [--json]
  dead-letters show <id>
  dead-letters replay <id> … | --all [--effect <name>]   [--reason <text>] [--by <who>]
  dead-letters discard <id> --reason <text>              [--by <who>]
`;

interface LettersRequest {
  readonly ids: readonly number[];
  readonly effect?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly by: string;
  readonly all: boolean;
  readonly json: boolean;
}

/** Operators' access to events whose effect failed, and to failed jobs. Source: reference reliability 2.4; ADR 0025. */
export const deadLetterCommands: Readonly<Record<string, Command>> = {
  'dead-letters': {
    about: 'Lists, shows, replays or discards events whose effect failed, and jobs that failed.',
    async run(args, context) {
      const [verb = '', ...rest] = args;
      const action = actions[verb];
      const request = action && parseDeadLettersRequest(rest);
      if (!action || !request) return printRefusal(USAGE);
      return action(await getDeadLettersProvider(context), request);
    },
  },
};

const actions: Readonly<Record<string, (letters: DeadLetters, request: LettersRequest) => Promise<number>>> = {
  async list(letters, { effect, state, json }) {
    const rows = await letters.listLetters({ ...(effect ? { effect } : {}), ...(state ? { state } : {}) });
    if (json) {
      printLine(JSON.stringify(rows.map(toListedDeadLetter)));
      return 0;
    }
    for (const row of rows) printLine(formatDeadLetterLine(row));
    printLine(`${rows.length} dead letters`);
    return 0;
  },

  async show(letters, { ids }) {
    const row = ids.length === 1 ? await letters.findLetter(ids[0]!) : null;
    if (!row) return printRefusal('no such dead letter\n');
    printLine(JSON.stringify(redactValue({ ...row, body: parseBodyIfJson(row.body) }), null, 2));
    return 0;
  },

  async replay(letters, { ids, all, effect, reason, by }) {
    if (all === ids.length > 0) return printRefusal(USAGE);
    const asked = await letters.requestReplay({
      ...(all ? {} : { ids }),
      ...(effect ? { effect } : {}),
      by,
      reason: reason ?? null,
    });
    printLine(`${asked.length} to be replayed by the worker${asked.length > 0 ? `: ${asked.join(' ')}` : ''}`);
    return all || asked.length === ids.length ? 0 : 1;
  },

  async discard(letters, { ids, reason, by }) {
    if (ids.length !== 1 || !reason) return printRefusal(USAGE);
    if (!(await letters.discardLetter(ids[0]!, by, reason))) return printRefusal('no such dead letter\n');
    printLine(`${ids[0]} discarded`);
    return 0;
  },
};

function parseDeadLettersRequest(args: readonly string[]): LettersRequest | null {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean', default: false } as const;
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { effect: text, state: text, reason: text, by: text, all: flag, json: flag },
    });
    const ids = positionals.map(Number);
    if (!ids.every((id) => Number.isSafeInteger(id) && id > 0)) return null;
    return { ids, by: userInfo().username, ...values };
  } catch {
    return null;
  }
}

async function getDeadLettersProvider(context: BootContext): Promise<DeadLetters> {
  return (await context.application()).get(DeadLetters);
}

/** Fields of a dead letter in a list: the first line of its error, and neither body nor headers. */
function toListedDeadLetter({ id, kind, state, effect, subject, attempts, last_failed_at: failed, error }: LetterRow) {
  const [first = ''] = error.split('\n');
  return { id, kind, state, effect, subject, attempts, last_failed_at: failed.toISOString(), error: first };
}

function formatDeadLetterLine(row: LetterRow): string {
  const { id, kind, state, effect, subject, attempts, last_failed_at: when, error } = toListedDeadLetter(row);
  return `${id}\t${kind}\t${state}\t${effect}\t${subject}\t${attempts} tries\t${when}\t${error}`;
}

function parseBodyIfJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printRefusal(why: string): number {
  process.stderr.write(why);
  return 2;
}
