import { Inject, Injectable } from '@nestjs/common';
import { HeadWatch, Work } from '@rookery/persistence';
import type { Head } from '@rookery/persistence';
import type { Command } from '@rookery/platform';
import { REWRITE_LOG } from './change-states';

/**
 * Begins another history: after a restore of identity's database, versions that were given away may be given again to
 * other changes. The log is written anew from the tables and gets a random epoch; every copy then refuses to decide
 * until it has loaded all of it. Source: reference reliability 3, 4.2; ADR 0041.
 */
@Injectable()
export class NewEpochCommand {
  constructor(
    @Inject(Work) private readonly work: Work,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
  ) {}

  async begin(): Promise<Head> {
    const head = await this.work.run(async (tx) => {
      await tx.takeTime();
      const [former] = await tx.query<{ version: number }>('select version from directory_head for update');
      if (!former) throw new Error('directory_head has no row');
      await tx.query('delete from directory_changes');
      const [written] = await tx.query<{ last: number }>(REWRITE_LOG, [former.version + 1]);
      const [next] = await tx.query<Head>(
        `update directory_head set version = $1, compacted_to = $1, epoch = replace(gen_random_uuid()::text, '-', '')
         returning version, epoch`,
        [written?.last ?? former.version + 1],
      );
      return next as Head;
    });
    this.watch.moved(head);
    return head;
  }
}

/** For `commands` of identity's process: run once after a restore of identity's database. */
export const newEpochCommand: Readonly<Record<string, Command>> = {
  'new-epoch': {
    about: 'Writes the change log of the directory anew under another epoch; needed after a restore of the database.',
    async run(_args, context) {
      const application = await context.application();
      const head = await application.get(NewEpochCommand, { strict: false }).begin();
      process.stdout.write(`epoch ${head.epoch}, version ${head.version}\n`);
    },
  },
};
