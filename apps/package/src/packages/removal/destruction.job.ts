import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { statement, Work } from '@rookery/persistence';
import { destroyPackages } from '../package-jobs';

const CHUNK = 500;

const DROP_FILES = statement<{ count: number }, { id: number }>(
  'package_files_destroy',
  `delete from package_files where id in (
     select id from package_files where is_pending_destruction order by id limit :count::int for update skip locked)
   returning id`,
);
/** Packages without files only, so that each delete has a bounded size. */
const DROP_PACKAGES = statement<{ count: number }, { id: number }>(
  'packages_destroy',
  `delete from packages where id in (
     select p.id from packages p where p.status = 'pending_destruction'
       and not exists (select 1 from package_files f where f.package_id = p.id)
     order by p.id limit :count::int for update skip locked)
   returning id`,
);

/** Removes rows in batches; each run continues until none is left. Source: reference packages-and-admin 3.3. */
@Injectable()
export class DestroyDeletedPackagesJob {
  constructor(private readonly work: Work) {}

  @Job(destroyPackages)
  async destroy({ signal }: Interruptible): Promise<void> {
    for (const rows of [DROP_FILES, DROP_PACKAGES]) {
      for (let count = CHUNK; count === CHUNK;) {
        signal.throwIfAborted();
        count = (await this.work.run((tx) => tx.run(rows, { count: CHUNK }))).length;
      }
    }
  }
}
