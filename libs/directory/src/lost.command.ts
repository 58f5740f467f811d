import { Database } from '@rookery/persistence';
import type { BootContext, Command } from '@rookery/platform';
import { LOST_KINDS } from './lost-records';

const USAGE = `usage:
  lost list                          lists records that are unknown to identity since its database was restored
  lost keep user|group|project <id>… keeps their data, hidden, and lists them no longer
`;

interface LostRow {
  readonly kind: string;
  readonly id: number;
  readonly name: string;
  readonly since: string;
}

/**
 * Operators' command for data of users, groups and projects that are unknown to identity since its database was
 * restored. The data is invisible to users. Identity's `lost drop` deletes it in every service.
 * Source: docs/reference/reliability.md 4.5.
 */
export const lostCommand: Readonly<Record<string, Command>> = {
  lost: {
    about: 'Lists or keeps records that are unknown to identity since a restore: lost list, lost keep <kind> <id>….',
    async run([verb, kind, ...ids], context) {
      if (verb === 'list' && kind === undefined) return printLostDirectoryRows(context);
      const known = LOST_KINDS.find((name) => name === kind);
      if (verb !== 'keep' || !known || ids.length === 0 || !ids.every((id) => /^[1-9]\d{0,15}$/.test(id))) {
        process.stderr.write(USAGE);
        return 2;
      }
      return keepLostDirectoryRows(context, known, ids.map(Number));
    },
  },
};

async function printLostDirectoryRows(context: BootContext): Promise<number> {
  const database = (await context.application()).get(Database);
  const rows = await database.query<LostRow>(
    `select kind, id, name, to_char(noticed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from directory_lost where state = 'open' order by kind, id`,
  );
  for (const { kind, id, name, since } of rows) process.stdout.write(`${kind} ${id} ${name} unknown since ${since}\n`);
  process.stdout.write(`${rows.length} lost\n`);
  return 0;
}

async function keepLostDirectoryRows(context: BootContext, kind: string, ids: readonly number[]): Promise<number> {
  const database = (await context.application()).get(Database);
  const kept = await database.query<{ id: number }>(
    `update directory_lost set state = 'kept' where kind = $1 and id = any($2::bigint[]) and state = 'open' returning id`,
    [kind, ids],
  );
  process.stdout.write(`${kept.length} kept\n`);
  return kept.length === ids.length ? 0 : 1;
}
