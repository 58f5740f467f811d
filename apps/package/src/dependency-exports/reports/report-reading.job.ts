import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { readDependencyReport } from '../dependency-jobs';
import { DependencyReportReader } from './dependency-report-reader';

/** Reads documents after they were handed in. Source: reference packages-and-admin 6.4. */
@Injectable()
export class ReadDependencyReportJob {
  constructor(private readonly reading: DependencyReportReader) {}

  @Job(readDependencyReport)
  async read({ params, signal }: JobRun<typeof readDependencyReport>): Promise<void> {
    await this.reading.readReport(params.report_id, signal);
  }
}
