import { boot } from '@rookery/platform';
import { http, worker } from './tiny.steps';

void boot({
  name: 'admin',
  settings: [],
  module: async () => (await import('./tiny.module')).TinyModule,
  http,
  worker,
  migrate: (context) => Promise.resolve(context.logger.info({}, 'migrated')),
  commands: {
    count: {
      about: 'Prints the words that follow.',
      run: async (args, context) => {
        await context.application();
        context.logger.info({}, 'not part of the output');
        process.stdout.write(`${args.length}\n`);
        return args.length;
      },
    },
    lines: {
      about: 'Prints as many lines as the word that follows says.',
      run: async ([count]) => {
        for (let line = 0; line < Number(count); line += 1) process.stdout.write(`${'x'.repeat(60)}\n`);
        await Promise.resolve();
        return 0;
      },
    },
    broken: { about: 'Fails.', run: () => Promise.reject(new Error('no use, glpat-c4n4ryc4n4ry')) },
  },
});
