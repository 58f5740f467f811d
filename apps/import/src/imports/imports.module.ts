import { Module } from '@nestjs/common';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { SourcesModule } from '../sources/sources.module';
import { StagesModule } from '../stages/stages.module';
import { IdentityImportsClient } from './identity-imports.client';
import { ImportCredentials } from './import-credentials';
import { ImportRecords } from './import-records';
import { ImportsController } from './imports.controller';
import { ImportsService } from './imports.service';
import { ImportFailure, ProjectImport } from './project-import.entity';
import { RemoteLookup } from './remote-lookup';
import { ImportJob } from './running/import.job';
import { StateReportsJob } from './running/state-reports.job';

const attachedImports = attachedTo({
  table: 'project_imports',
  effect: 'drop-imports',
  project: 'project_id',
  stays: {
    user_id: 'An import goes on after its user was removed; identity no longer shows the user.',
    job_id: 'The queue deletes its jobs by itself.',
  },
});
const attachedFailures = attachedTo({
  table: 'import_failures',
  stays: { import_id: 'The foreign key removes the failures of an import.' },
});

/** Imports of projects: their states, and the jobs that run them. */
@Owns(ProjectImport, ImportFailure)
@Attaches(attachedImports, attachedFailures)
@Module({
  imports: [SourcesModule, StagesModule],
  controllers: [ImportsController],
  providers: [
    IdentityImportsClient,
    ImportCredentials,
    ImportJob,
    ImportRecords,
    ImportsService,
    RemoteLookup,
    StateReportsJob,
  ],
})
export class ImportsModule {}
