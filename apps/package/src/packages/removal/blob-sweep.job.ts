import { Injectable } from '@nestjs/common';
import { BlobStorage } from '@rookery/blobs';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database, statement } from '@rookery/persistence';
import { packageSettings } from '../../package.config';

/** The store holds the files of all wings, so the tables of each are asked. */
const REFERENCED = statement<{ keys: readonly string[] }, { sha256: string }>(
  'package_files_referenced',
  `select asked.sha256 from unnest(:keys::text[]) as asked (sha256)
   where exists (select 1 from package_files f where f.sha256 = asked.sha256)
     or exists (select 1 from pypi_files m where m.metadata_sha256 = asked.sha256)
     or exists (select 1 from dependency_reports r where r.sha256 = asked.sha256)
     or exists (select 1 from dependency_exports e where e.sha256 = asked.sha256)
     or exists (select 1 from uploads u where u.sha256 = asked.sha256)`,
);

/** Removes contents that no row has named for a day, and remains of failed uploads. Source: ADR 0182. */
@Injectable()
export class BlobSweepJob {
  constructor(
    private readonly blobs: BlobStorage,
    private readonly database: Database,
  ) {}

  @Job('sweep-package-blobs', { cron: (read) => read(packageSettings).sweepCron })
  async sweep({ signal }: Interruptible): Promise<void> {
    await this.blobs.sweep({ findReferenced: (keys) => this.findReferenced(keys), signal });
  }

  private async findReferenced(keys: readonly string[]): Promise<readonly string[]> {
    return (await this.database.run(REFERENCED, { keys })).map(({ sha256 }) => sha256);
  }
}
