import { InvalidParameters } from '@rookery/kernel';
import type { Command } from '@rookery/platform';
import { LOST_KINDS, ResourcesLostInRestoreService } from './lost-resources.service';

/** Command of identity's process for resources that a restore of the database lost. */
export const lostCommand: Readonly<Record<string, Command>> = {
  lost: {
    about:
      'Makes every service drop the rows of users, groups or projects that a restore lost: lost drop <kind> <id>….',
    async run([verb, kind, ...ids], context) {
      const lostKind = LOST_KINDS.find((name) => name === kind);
      if (verb !== 'drop' || !lostKind || ids.length === 0 || !ids.every((id) => /^[1-9]\d{0,15}$/.test(id))) {
        process.stderr.write('usage: lost drop user|group|project <id>…   (other services: lost list)\n');
        return 2;
      }
      const service = (await context.application()).get(ResourcesLostInRestoreService, { strict: false });
      try {
        await service.drop(lostKind, ids.map(Number));
      } catch (error) {
        if (!(error instanceof InvalidParameters)) throw error;
        process.stderr.write(`${error.message}\n`);
        return 1;
      }
      process.stdout.write(`every service drops the rows of ${lostKind} ${ids.join(', ')}\n`);
      return 0;
    },
  },
};
