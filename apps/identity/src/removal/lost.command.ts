import { InvalidParameters } from '@rookery/kernel';
import type { Command } from '@rookery/platform';
import { LOST_KINDS, LostThingsService } from './lost-things.service';

/** For `commands` of identity's process: an operator's word about what a restore took. */
export const lostCommand: Readonly<Record<string, Command>> = {
  lost: {
    about:
      'Has every service drop what belongs to people, groups or projects that a restore took: lost drop <kind> <id>….',
    async run([verb, kind, ...ids], context) {
      const known = LOST_KINDS.find((name) => name === kind);
      if (verb !== 'drop' || !known || ids.length === 0 || !ids.every((id) => /^[1-9]\d{0,15}$/.test(id))) {
        process.stderr.write('usage: lost drop user|group|project <id>…   (other services: lost list)\n');
        return 2;
      }
      const things = (await context.application()).get(LostThingsService, { strict: false });
      try {
        await things.drop(known, ids.map(Number));
      } catch (error) {
        if (!(error instanceof InvalidParameters)) throw error;
        process.stderr.write(`${error.message}\n`);
        return 1;
      }
      process.stdout.write(`${ids.length} are dropped by every service\n`);
      return 0;
    },
  },
};
