import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { ImportStageFailed, ImportStagePostponed } from '../../stages/stage-failure';
import { runImport } from '../import-jobs';
import { ImportRecords } from '../import-records';
import { ImportEnded, ImportPermissionLost } from './import-checks';
import { ImportRunner } from './import-runner';

/** Failures in a row without progress. They take about half a minute, since the clients of an import wait for it. */
const MAX_FAILED_TRIES = 4;
/** Maximum number of tries without progress, including those that ended with their process. */
const MAX_TRIES_WITHOUT_PROGRESS = 10;
const INTERRUPTED = 'The import was interrupted too often.';
const UNEXPECTED = 'The import failed for an unexpected reason.';
/** Units: ms. */
const RETRY_MS = 5000;

/** Runs imports stage by stage. A try that is interrupted leaves the import to the next one. */
@Injectable()
export class ImportJob {
  constructor(
    private readonly records: ImportRecords,
    private readonly importRun: ImportRunner,
  ) {}

  @Job(runImport)
  async run({ params, attempt, signal }: JobRun<typeof runImport>): Promise<void> {
    const row = await this.records.beginImport(params.import_id);
    if (!row) return;
    const tries = attempt - row.progress_try;
    if (tries > MAX_TRIES_WITHOUT_PROGRESS) return void (await this.records.endImport(row.id, 'failed', INTERRUPTED));
    const isLastTry = tries >= MAX_FAILED_TRIES;
    const state = { hasAdvanced: false };
    const recordProgress = async (): Promise<void> => {
      if (!state.hasAdvanced) await this.records.recordProgress(row.id, attempt);
      state.hasAdvanced = true;
    };
    try {
      await this.importRun.run(row, { signal, isLastTry, hasAdvanced: () => state.hasAdvanced, recordProgress });
      await this.records.endImport(row.id, 'finished');
    } catch (error) {
      if (error instanceof ImportEnded) return;
      signal.throwIfAborted();
      if (error instanceof ImportPermissionLost)
        return void (await this.records.endImport(row.id, 'failed', error.message));
      if (error instanceof ImportStagePostponed) return this.records.postponeImport(row.id, error.until);
      const isFinal = error instanceof ImportStageFailed && error.isFinal;
      // Tries count from the last progress on, so that a long import survives many short failures of its host. A late
      // try has a backoff of hours, so a new job replaces this one: the backoff of its first try is seconds.
      if (!isFinal && (state.hasAdvanced || (attempt > MAX_FAILED_TRIES && !isLastTry)))
        return this.records.postponeImport(row.id, new Date(Date.now() + RETRY_MS));
      if (!isFinal && !isLastTry) throw error;
      await this.records.endImport(row.id, 'failed', error instanceof ImportStageFailed ? error.message : UNEXPECTED);
      if (!(error instanceof ImportStageFailed)) throw error;
    }
  }
}
