import { Injectable } from '@nestjs/common';
import { dependencyListExportFinished } from '@rookery/contracts';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { DependencyExportsQueries } from '../dependency-exports.queries';
import type { ExportRow } from '../dependency-exports.queries';
import { generateDependencyExport } from '../dependency-jobs';
import { ExportContents } from './export-contents';

/**
 * Writes the files of exports. A try that is interrupted or fails leaves the export to the next one; after the last try
 * the export has failed. Source: reference packages-and-admin 6.1.
 */
@Injectable()
export class GenerateDependencyExportJob {
  constructor(
    private readonly work: Work,
    private readonly exports: DependencyExportsQueries,
    private readonly contents: ExportContents,
  ) {}

  @Job(generateDependencyExport)
  async generate({ params, attempt, signal }: JobRun<typeof generateDependencyExport>): Promise<void> {
    const row = await this.work.run((tx) => this.exports.beginExport(tx, params.export_id));
    if (!row) return;
    try {
      const file = await this.contents.writeExport(row, signal);
      await this.work.run(async (tx) => {
        const finished = await this.exports.finishExport(tx, row.id, file);
        if (finished) tx.emit(dependencyExportFinishedEvent(finished));
      });
    } catch (error) {
      const isLast = attempt >= generateDependencyExport.tries && !signal.aborted;
      const isGone = error instanceof NotFound;
      await this.work.run((tx) => this.exports.endAttempt(tx, row.id, isLast || isGone ? 'failed' : 'created'));
      if (!isGone) throw error;
    }
  }
}

function dependencyExportFinishedEvent({
  id,
  project_id,
  group_id,
  pipeline_id,
  author_id,
  export_type,
  send_email,
}: ExportRow) {
  return dependencyListExportFinished.of({
    aggregateId: id,
    actorId: author_id,
    data: { export_id: id, project_id, group_id, pipeline_id, author_id, export_type, send_email },
  });
}
