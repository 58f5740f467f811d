import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { StageFailed, StageWaits } from '../../stages/stage-failure';
import { runImport } from '../import-jobs';
import { ImportRecords } from '../import-records';
import { ImportEnded, ImporterRefused } from './import-checks';
import { ImportRun } from './import-run';

const UNEXPECTED = 'The import failed for an unexpected reason.';
/** Units: ms. */
const RETRY_MS = 5000;

/** Runs imports stage by stage. A try that is interrupted leaves the import to the next one. */
@Injectable()
export class ImportJob {
  constructor(
    private readonly records: ImportRecords,
    private readonly importRun: ImportRun,
  ) {}

  @Job(runImport)
  async run({ params, attempt, signal }: JobRun<typeof runImport>): Promise<void> {
    const row = await this.records.begin(params.import_id);
    if (!row) return;
    const isLastTry = attempt >= runImport.tries;
    const state = { hasAdvanced: false };
    try {
      await this.importRun.run(row, { signal, isLastTry, noteProgress: () => void (state.hasAdvanced = true) });
      await this.records.end(row.id, 'finished');
    } catch (error) {
      if (error instanceof ImportEnded) return;
      signal.throwIfAborted();
      if (error instanceof ImporterRefused) return void (await this.records.end(row.id, 'failed', error.message));
      if (error instanceof StageWaits) return this.records.postpone(row.id, error.until);
      const isFinal = error instanceof StageFailed && error.isFinal;
      // Tries count from the last progress on, so that a long import survives many short failures of its host.
      if (!isFinal && state.hasAdvanced) return this.records.postpone(row.id, new Date(Date.now() + RETRY_MS));
      if (!isFinal && !isLastTry) throw error;
      await this.records.end(row.id, 'failed', error instanceof StageFailed ? error.message : UNEXPECTED);
      if (!(error instanceof StageFailed)) throw error;
    }
  }
}
