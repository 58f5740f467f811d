import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { GitModule } from '@rookery/git';
import { UpstreamPeopleModule } from '../people/people.module';
import { SourcesModule } from '../sources/sources.module';
import { ProjectUploads } from './attachments/project-uploads';
import { TextAttachments } from './attachments/text-attachments';
import { ObjectsStage } from './objects/objects-stage';
import { ProjectObjects } from './objects/project-objects';
import { RepositoryStage } from './repository/repository-stage';
import { ScratchJob } from './repository/scratch.job';

/** Stages of imports, each of which brings one kind of object into a project. */
@Module({
  imports: [EgressModule, GitModule, UpstreamPeopleModule, SourcesModule],
  providers: [ObjectsStage, ProjectObjects, ProjectUploads, RepositoryStage, ScratchJob, TextAttachments],
  exports: [ObjectsStage, RepositoryStage],
})
export class StagesModule {}
