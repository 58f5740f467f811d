import type { Command } from '@rookery/platform';
import { HistoriesService } from './history/histories.service';

/** For `commands` of identity's process: what a process does by itself when it finds another database. */
export const newEpochCommand: Readonly<Record<string, Command>> = {
  'new-epoch': {
    about: 'Writes the change log of the directory anew under another epoch: every copy is loaded anew.',
    async run(_args, context) {
      const application = await context.application();
      const head = await application.get(HistoriesService, { strict: false }).begin();
      process.stdout.write(`epoch ${head.epoch}, version ${head.version}\n`);
    },
  },
};
