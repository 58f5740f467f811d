import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { StageFailed } from '../../stages/stage-failure';
import { RepositoryStage } from '../../stages/repository/repository-stage';
import { ImportCredentials } from '../import-credentials';
import { runImport } from '../import-jobs';
import { ImportRecords } from '../import-records';
import type { ImportRow } from '../import-records';

const UNEXPECTED = 'The import failed for an unexpected reason.';
const NO_CREDENTIAL = 'The credential of the import cannot be read any more.';

/** The import ended while a stage ran. */
class ImportEnded extends Error {}

/** Runs imports stage by stage. A try that is interrupted leaves the import to the next one. */
@Injectable()
export class ImportJob {
  constructor(
    private readonly records: ImportRecords,
    private readonly credentials: ImportCredentials,
    private readonly repository: RepositoryStage,
  ) {}

  @Job(runImport)
  async run({ params, attempt, signal }: JobRun<typeof runImport>): Promise<void> {
    const row = await this.records.begin(params.import_id);
    if (!row) return;
    try {
      await this.runStages(row, signal);
      await this.records.end(row.id, 'finished');
    } catch (error) {
      if (error instanceof ImportEnded) return;
      signal.throwIfAborted();
      const isFinal = error instanceof StageFailed && error.isFinal;
      if (!isFinal && attempt < runImport.tries) throw error;
      await this.records.end(row.id, 'failed', error instanceof StageFailed ? error.message : UNEXPECTED);
      if (!(error instanceof StageFailed)) throw error;
    }
  }

  /** Errors: StageFailed; ImportEnded. */
  private async runStages(row: ImportRow, signal: AbortSignal): Promise<void> {
    const { id, project_id: projectId, clone_url: cloneUrl, default_branch: defaultBranch } = row;
    const token = row.sealed_credential && this.credentials.open(row.import_key, row.sealed_credential);
    if (token === null) throw new StageFailed(NO_CREDENTIAL, true);
    const source = { projectId: projectId!, cloneUrl, defaultBranch, token };
    const failed = await this.repository.run(source, () => this.checkRunning(id), signal);
    await this.records.addFailures(id, failed);
  }

  /** Errors: ImportEnded for an import that was cancelled or deleted meanwhile. */
  private async checkRunning(id: number): Promise<void> {
    if ((await this.records.one(id))?.state !== 'started') throw new ImportEnded();
  }
}
