import { parseArgs } from 'node:util';
import { Database } from '@rookery/persistence';
import type { Command } from '@rookery/platform';

const CHUNK = 1000;

/**
 * Removes the published mark of events, so that the relay sends them again. This fills a lost or emptied stream from
 * the outbox. Event ids stay the same, so that inboxes recognize them; message ids change, because a stream that still
 * recognizes the old ones would refuse the messages. `types` are names with or without the leading `rookery.`; null
 * means all. Bounds: `from` inclusive, `to` exclusive. Source: reference reliability 2.6.
 */
export async function republishEvents(
  database: Database,
  o: { readonly from: Date; readonly to: Date | null; readonly types: readonly string[] | null },
): Promise<number> {
  const subjects = o.types?.map((type) => type.replace(/^rookery\./, '')) ?? null;
  let after = 0;
  for (let count = 0; ;) {
    const rows = await database.query<{ id: number }>(
      `update outbox set published_at = null, generation = (extract(epoch from clock_timestamp()) * 1000)::bigint, attempts = 0, last_error = null where id in (
         select id from outbox where id > $1 and occurred_at >= $2
           and ($3::timestamptz is null or occurred_at < $3) and ($4::text[] is null or subject = any($4))
         order by id limit ${CHUNK})
       returning id`,
      [after, o.from, o.to, subjects],
    );
    count += rows.length;
    if (rows.length < CHUNK) return count;
    after = Math.max(...rows.map((row) => row.id));
  }
}

export const republishCommand: Readonly<Record<string, Command>> = {
  republish: {
    about: 'Sends events of a span of time again: republish --from <time> [--to <time>] [--types <type>,…].',
    async run(args, context) {
      const request = parseRepublishRequest(args);
      if (!request) {
        process.stderr.write('usage: republish --from <ISO time> [--to <ISO time>] [--types <type>,…]\n');
        return 2;
      }
      const count = await republishEvents((await context.application()).get(Database), request);
      process.stdout.write(`${count} events will be sent again\n`);
      return 0;
    },
  },
};

function parseRepublishRequest(args: readonly string[]): Parameters<typeof republishEvents>[1] | null {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args: [...args], options: { from: text, to: text, types: text } });
    const from = new Date(values.from ?? '');
    const to = values.to === undefined ? null : new Date(values.to);
    if (Number.isNaN(from.getTime()) || (to && Number.isNaN(to.getTime()))) return null;
    return { from, to, types: values.types?.split(',').filter(Boolean) ?? null };
  } catch {
    return null;
  }
}
