import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { IdentityImportsClient } from '../identity-imports.client';
import { reportImportState } from '../import-jobs';
import { ImportRecords } from '../import-records';

const STUCK = 'The import made no progress for too long.';

/**
 * Reports states of imports to identity. Ends imports that make no progress, deletes failed ones without a project, and
 * starts those whose predecessor was deleted.
 */
@Injectable()
export class StateReportsJob {
  constructor(
    private readonly records: ImportRecords,
    private readonly identity: IdentityImportsClient,
  ) {}

  @Job(reportImportState)
  async report({ params }: JobRun<typeof reportImportState>): Promise<void> {
    const row = await this.records.findImport(params.import_id);
    if (!row || row.state === 'pending') return;
    await this.identity.recordState({ import_key: row.import_key, state: row.state, error: row.error });
  }

  @Job('fail-stuck-imports', { cron: '*/10 * * * *' })
  async failStuck(): Promise<void> {
    for (const id of await this.records.listStuck()) await this.records.endImport(id, 'failed', STUCK);
    await this.records.dropForgotten();
    await this.records.startForgotten();
  }
}
