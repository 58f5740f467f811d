import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { CiJobsModule } from '../ci/jobs/jobs.module';
import { PipelinesModule } from '../ci/pipelines/pipelines.module';
import { PackagesModule } from '../packages/packages.module';
import { DependencyExport } from './dependency-export.entity';
import { DependencyExportsController } from './dependency-exports.controller';
import { DependencyExportsQueries } from './dependency-exports.queries';
import { DependencyExportsService } from './dependency-exports.service';
import { ExpireDependencyExportsJob } from './expiry.job';
import { DependencyComponentsQueries } from './generating/components.queries';
import { DependencyReportSources } from './generating/dependency-sources';
import { ExportContents } from './generating/export-contents';
import { GenerateDependencyExportJob } from './generating/generation.job';
import { ArtifactsController } from './reports/artifacts.controller';
import { DependencyComponent } from './reports/dependency-component.entity';
import { DependencyReport } from './reports/dependency-report.entity';
import { DependencyReportIntake } from './reports/report-intake';
import { DependencyReportReader } from './reports/dependency-report-reader';
import { ReadDependencyReportJob } from './reports/report-reading.job';

const attachedReports = declareAttachedTable({
  table: 'dependency_reports',
  project: 'project_id',
  stays: {
    pipeline_id: 'The foreign key removes the reports of a pipeline.',
    job_id: 'A job is removed with its pipeline only.',
  },
});
const attachedExports = declareAttachedTable({
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
    DependencyReportIntake,
    DependencyReportReader,
    ReadDependencyReportJob,
    DependencyExportsQueries,
    DependencyExportsService,
    DependencyReportSources,
    DependencyComponentsQueries,
    ExportContents,
    GenerateDependencyExportJob,
    ExpireDependencyExportsJob,
  ],
})
export class DependencyExportsModule {}
