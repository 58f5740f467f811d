import { Module } from '@nestjs/common';
import { GitModule } from '@rookery/git';
import { Attaches, Owns } from '@rookery/persistence';
import { ProtectedRefsModule } from '../protected-refs/protected-refs.module';
import { CommitIdentities } from './commit-identities';
import { FirstCommits } from './first-commits';
import { FirstCommitsConsumer } from './first-commits.consumer';
import { ForkCopies } from './forks/fork-copies';
import { ForksConsumer } from './forks/forks.consumer';
import { attachedRemovals, attachedRepositories, ProjectRepositories } from './project-repositories';
import { RepositoriesJob } from './repositories.job';
import { RepositoryFactsController } from './repository-facts.controller';
import { ResolveRefController } from './resolve-ref.controller';
import { ProjectRepository, RemovedRepository } from './repository.entity';
import { attachedPushes, Push, RefUpdateRow } from './ref-updates/push.entity';
import { PushLimits } from './ref-updates/push-limits';
import { PushReceiver } from './ref-updates/push-receiver';
import { PushRules } from './ref-updates/push-rules';
import { RefChanges } from './ref-updates/ref-changes';
import { RefIntents } from './ref-updates/ref-intents';
import { RefUpdateEffects } from './ref-updates/ref-update-effects';
import { PushSettlement } from './ref-updates/settlement';
import { GoImportController } from './transport/go-import.controller';
import { ImportGitHttpController } from './transport/import-door.controller';
import { LfsController } from './transport/lfs.controller';
import { SmartHttpController } from './transport/smart-http.controller';

/** Repositories of projects: storage, git over HTTP, and changes of refs. */
@Owns(ProjectRepository, RemovedRepository, Push, RefUpdateRow)
@Attaches(attachedRepositories, attachedPushes, attachedRemovals)
@Module({
  imports: [GitModule, ProtectedRefsModule],
  controllers: [
    FirstCommitsConsumer,
    ForksConsumer,
    GoImportController,
    ImportGitHttpController,
    LfsController,
    RepositoryFactsController,
    ResolveRefController,
    SmartHttpController,
  ],
  providers: [
    CommitIdentities,
    FirstCommits,
    ForkCopies,
    ProjectRepositories,
    PushLimits,
    PushReceiver,
    PushRules,
    RefChanges,
    RefIntents,
    RefUpdateEffects,
    RepositoriesJob,
    PushSettlement,
  ],
  exports: [CommitIdentities, ProjectRepositories, RefChanges, RefUpdateEffects, PushSettlement],
})
export class RepositoriesModule {}
