import { Module } from '@nestjs/common';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { SourcesModule } from '../sources/sources.module';
import { StagesModule } from '../stages/stages.module';
import { EgressModule } from '@rookery/egress';
import { ImportsByUrlConsumer } from './by-url/imports-by-url.consumer';
import { ImportsByUrlController } from './by-url/imports-by-url.controller';
import { ImportsByUrlService } from './by-url/imports-by-url.service';
import { IdentityImportsClient } from './identity-imports.client';
import { ImportCredentials } from './import-credentials';
import { ImportRecords } from './import-records';
import { ImportStages } from './import-stages';
import { ImportsController } from './imports.controller';
import { ImportsService } from './imports.service';
import { ImportFailure, ImportStage, ProjectImport } from './project-import.entity';
import { ImportChecks } from './running/import-checks';
import { ImportJob } from './running/import.job';
import { ImportRun } from './running/import-run';
import { StateReportsJob } from './running/state-reports.job';
import { NewImports } from './starting/new-imports';
import { RemoteImportsService } from './starting/remote-imports.service';
import { RemoteLookup } from './starting/remote-lookup';
import { RepohostImportsService } from './starting/repohost-imports.service';
import { RepohostServerImportsService } from './starting/repohost-server-imports.service';
import { RepohostStarts } from './starting/repohost-starts';

const attachedImports = attachedTo({
  table: 'project_imports',
  effect: 'drop-imports',
  project: 'project_id',
  stays: {
    user_id:
      'An unfinished import fails at its next page when its user was removed; identity no longer shows the user.',
    job_id: 'The queue deletes its jobs by itself.',
  },
});
const attachedFailures = attachedTo({
  table: 'import_failures',
  stays: { import_id: 'The foreign key removes the failures of an import.' },
});

const attachedStages = attachedTo({
  table: 'import_stages',
  stays: { import_id: 'The foreign key removes the stages of an import.' },
});

/** Imports of projects: their states, and the jobs that run them. */
@Owns(ProjectImport, ImportFailure, ImportStage)
@Attaches(attachedImports, attachedFailures, attachedStages)
@Module({
  imports: [EgressModule, SourcesModule, StagesModule],
  controllers: [ImportsByUrlConsumer, ImportsByUrlController, ImportsController],
  providers: [
    IdentityImportsClient,
    ImportChecks,
    ImportCredentials,
    ImportJob,
    ImportRecords,
    ImportRun,
    ImportStages,
    ImportsByUrlService,
    ImportsService,
    NewImports,
    RemoteImportsService,
    RemoteLookup,
    RepohostImportsService,
    RepohostServerImportsService,
    RepohostStarts,
    StateReportsJob,
  ],
  exports: [ImportCredentials, RemoteLookup],
})
export class ImportsModule {}
