import type { Command } from '@rookery/platform';
import { ChangeLogHistoriesService } from './history/histories.service';

/**
 * Operator commands of the identity process: start another history explicitly, as a process does when it finds another
 * database.
 */
export const newEpochCommand: Readonly<Record<string, Command>> = {
  'new-epoch': {
    about: 'Rewrites the change log of the directory under another epoch, so that every copy loads it again.',
    async run(_args, context) {
      const application = await context.application();
      const head = await application.get(ChangeLogHistoriesService, { strict: false }).startHistory();
      process.stdout.write(`epoch ${head.epoch}, version ${head.version}\n`);
    },
  },
};
