import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { CiJobsModule } from '../ci/jobs/jobs.module';
import { PipelinesModule } from '../ci/pipelines/pipelines.module';
import { PackagesModule } from '../packages/packages.module';
import { DependencyExport } from './dependency-export.entity';
import { DependencyExportsController } from './dependency-exports.controller';
import { DependencyExportsQueries } from './dependency-exports.queries';
import { DependencyExportsService } from './dependency-exports.service';
import { ExpiryJob } from './expiry.job';
import { ComponentsQueries } from './generating/components.queries';
import { DependencyReportSources } from './generating/dependency-sources';
import { ExportContents } from './generating/export-contents';
import { GenerationJob } from './generating/generation.job';
import { ArtifactsController } from './reports/artifacts.controller';
import { DependencyComponent } from './reports/dependency-component.entity';
import { DependencyReport } from './reports/dependency-report.entity';
import { ReportIntake } from './reports/report-intake';
import { ReportReading } from './reports/report-reading';
import { ReportReadingJob } from './reports/report-reading.job';

const attachedReports = attachedTo({
  table: 'dependency_reports',
  project: 'project_id',
  stays: {
    pipeline_id: 'The foreign key removes the reports of a pipeline.',
    job_id: 'A job is removed with its pipeline only.',
  },
});
const attachedExports = attachedTo({
  table: 'dependency_exports',
  project: 'project_id',
  group: 'group_id',
  stays: {
    pipeline_id: 'The foreign key removes the exports of a pipeline.',
    author_id: 'An export of a deleted user is shown to no user, and expires.',
  },
});

/** CycloneDX reports of jobs, and exports of dependency lists that are made from them. */
@Owns(DependencyReport, DependencyComponent, DependencyExport)
@Attaches(attachedReports, attachedExports)
@Module({
  imports: [BlobsModule, PackagesModule, PipelinesModule, CiJobsModule],
  controllers: [ArtifactsController, DependencyExportsController],
  providers: [
    ReportIntake,
    ReportReading,
    ReportReadingJob,
    DependencyExportsQueries,
    DependencyExportsService,
    DependencyReportSources,
    ComponentsQueries,
    ExportContents,
    GenerationJob,
    ExpiryJob,
  ],
})
export class DependencyExportsModule {}
