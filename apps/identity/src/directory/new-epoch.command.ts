import type { Command } from '@rookery/platform';
import { NewEpoch } from './new-epoch';

/** For `commands` of identity's process: run once after a restore of identity's database. */
export const newEpochCommand: Readonly<Record<string, Command>> = {
  'new-epoch': {
    about: 'Writes the change log of the directory anew under another epoch; needed after a restore of the database.',
    async run(_args, context) {
      const application = await context.application();
      const head = await application.get(NewEpoch, { strict: false }).begin();
      process.stdout.write(`epoch ${head.epoch}, version ${head.version}\n`);
    },
  },
};
