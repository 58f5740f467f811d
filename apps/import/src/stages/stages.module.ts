import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { GitModule } from '@rookery/git';
import { RepositoryStage } from './repository/repository-stage';
import { ScratchJob } from './repository/scratch.job';

/** Stages of imports, each of which brings one kind of object into a project. */
@Module({ imports: [EgressModule, GitModule], providers: [RepositoryStage, ScratchJob], exports: [RepositoryStage] })
export class StagesModule {}
