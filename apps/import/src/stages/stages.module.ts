import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { GitModule } from '@rookery/git';
import { UpstreamPeopleModule } from '../people/people.module';
import { UpstreamClientsModule } from '../sources/sources.module';
import { ProjectUploads } from './attachments/project-uploads';
import { TextAttachmentImporter } from './attachments/text-attachments';
import { ObjectsImportStage } from './objects/objects-stage';
import { ImportObjectsClient } from './objects/import-objects-client';
import { RepositoryImportStage } from './repository/repository-stage';
import { SweepScratchRepositoriesJob } from './repository/scratch.job';

/** Stages of imports, each of which brings one kind of object into a project. */
@Module({
  imports: [EgressModule, GitModule, UpstreamPeopleModule, UpstreamClientsModule],
  providers: [
    ObjectsImportStage,
    ImportObjectsClient,
    ProjectUploads,
    RepositoryImportStage,
    SweepScratchRepositoriesJob,
    TextAttachmentImporter,
  ],
  exports: [ObjectsImportStage, RepositoryImportStage],
})
export class ImportStagesModule {}
