import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { UpstreamClientsModule } from '../sources/sources.module';
import { ImportStagesModule } from '../stages/stages.module';
import { EgressModule } from '@rookery/egress';
import { ImportsByUrlConsumer } from './by-url/imports-by-url.consumer';
import { ImportsByUrlController } from './by-url/imports-by-url.controller';
import { ImportsByUrlService } from './by-url/imports-by-url.service';
import { IdentityImportsClient } from './identity-imports.client';
import { ImportCredentials } from './import-credentials';
import { ImportRecords } from './import-records';
import { ImportStageRecords } from './import-stages';
import { ImportsController } from './imports.controller';
import { ImportsService } from './imports.service';
import { ImportFailure, ImportStage, ProjectImport } from './project-import.entity';
import { ImportChecks } from './running/import-checks';
import { ImportJob } from './running/import.job';
import { ImportRunner } from './running/import-runner';
import { StateReportsJob } from './running/state-reports.job';
import { ImportStarter } from './starting/import-starter';
import { RemoteImportsService } from './starting/remote-imports.service';
import { RemoteLookup } from './starting/remote-lookup';
import { RepohostImportsService } from './starting/repohost-imports.service';
import { RepohostServerImportsService } from './starting/repohost-server-imports.service';
import { RepohostImportStarter } from './starting/repohost-import-starter';

const attachedImports = declareAttachedTable({
  table: 'project_imports',
  effect: 'drop-imports',
  project: 'project_id',
  stays: {
    user_id:
      'An unfinished import fails at its next page when its user was removed; identity no longer shows the user.',
    job_id: 'The queue deletes its jobs by itself.',
  },
});
const attachedFailures = declareAttachedTable({
  table: 'import_failures',
  stays: { import_id: 'The foreign key removes the failures of an import.' },
});

const attachedStages = declareAttachedTable({
  table: 'import_stages',
  stays: { import_id: 'The foreign key removes the stages of an import.' },
});

/** Imports of projects: their states, and the jobs that run them. */
@Owns(ProjectImport, ImportFailure, ImportStage)
@Attaches(attachedImports, attachedFailures, attachedStages)
@Module({
  imports: [EgressModule, UpstreamClientsModule, ImportStagesModule],
  controllers: [ImportsByUrlConsumer, ImportsByUrlController, ImportsController],
  providers: [
    IdentityImportsClient,
    ImportChecks,
    ImportCredentials,
    ImportJob,
    ImportRecords,
    ImportRunner,
    ImportStageRecords,
    ImportsByUrlService,
    ImportsService,
    ImportStarter,
    RemoteImportsService,
    RemoteLookup,
    RepohostImportsService,
    RepohostServerImportsService,
    RepohostImportStarter,
    StateReportsJob,
  ],
  exports: [ImportCredentials, RemoteLookup],
})
export class ImportsModule {}
