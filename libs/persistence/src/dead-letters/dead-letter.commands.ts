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

interface Request {
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
      const request = action && requestOf(rest);
      if (!action || !request) return refuse(USAGE);
      return action(await lettersOf(context), request);
    },
  },
};

const actions: Readonly<Record<string, (letters: DeadLetters, request: Request) => Promise<number>>> = {
  async list(letters, { effect, state, json }) {
    const rows = await letters.list({ ...(effect ? { effect } : {}), ...(state ? { state } : {}) });
    if (json) {
      print(JSON.stringify(rows.map(listedOf)));
      return 0;
    }
    for (const row of rows) print(lineOf(row));
    print(`${rows.length} dead letters`);
    return 0;
  },

  async show(letters, { ids }) {
    const row = ids.length === 1 ? await letters.find(ids[0]!) : null;
    if (!row) return refuse('no such dead letter\n');
    print(JSON.stringify(redactValue({ ...row, body: readable(row.body) }), null, 2));
    return 0;
  },

  async replay(letters, { ids, all, effect, reason, by }) {
    if (all === ids.length > 0) return refuse(USAGE);
    const asked = await letters.requestReplay({
      ...(all ? {} : { ids }),
      ...(effect ? { effect } : {}),
      by,
      reason: reason ?? null,
    });
    print(`${asked.length} to be replayed by the worker${asked.length > 0 ? `: ${asked.join(' ')}` : ''}`);
    return all || asked.length === ids.length ? 0 : 1;
  },

  async discard(letters, { ids, reason, by }) {
    if (ids.length !== 1 || !reason) return refuse(USAGE);
    if (!(await letters.discard(ids[0]!, by, reason))) return refuse('no such dead letter\n');
    print(`${ids[0]} discarded`);
    return 0;
  },
};

function requestOf(args: readonly string[]): Request | null {
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

async function lettersOf(context: BootContext): Promise<DeadLetters> {
  return (await context.application()).get(DeadLetters);
}

/** Fields of a dead letter in a list: the first line of its error, and neither body nor headers. */
function listedOf({ id, kind, state, effect, subject, attempts, last_failed_at: failed, error }: LetterRow) {
  const [first = ''] = error.split('\n');
  return { id, kind, state, effect, subject, attempts, last_failed_at: failed.toISOString(), error: first };
}

function lineOf(row: LetterRow): string {
  const { id, kind, state, effect, subject, attempts, last_failed_at: when, error } = listedOf(row);
  return `${id}\t${kind}\t${state}\t${effect}\t${subject}\t${attempts} tries\t${when}\t${error}`;
}

function readable(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(why: string): number {
  process.stderr.write(why);
  return 2;
}
