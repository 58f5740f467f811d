import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { GroupsModule } from '../groups/groups.module';
import { MembersModule } from '../members/members.module';
import { NamespacesModule } from '../namespaces/namespaces.module';
import { ProjectsModule } from '../projects/projects.module';
import { ServiceAccountsModule } from '../service-accounts/service-accounts.module';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { RemovedGroupAndProjectCleanup } from './removed-group-and-project-cleanup';
import { DeletionMarksService } from './deletion-marks.service';
import { GroupServiceAccountsRemoval } from './groups/group-service-accounts-removal';
import { GroupStatesController } from './groups/group-states.controller';
import { GroupStatesService } from './groups/group-states.service';
import { DueRemovalsJob } from './due-removals.job';
import { EndedBotsRemovalJob } from './people/ended-bots.job';
import { ResourcesLostInRestoreService } from './lost-resources.service';
import { UserRemovalSteps } from './people/removal-steps';
import { SolelyOwnedGroups } from './people/solely-owned-groups';
import { AccountRemoval } from './people/account-removal';
import { UserRemovalController } from './people/user-removal.controller';
import { UserRemoval } from './people/user-removal.entity';
import { UserRemovalJob } from './people/user-removal.job';
import { UserRemovalService } from './people/user-removal.service';
import { ProjectStatesController } from './projects/project-states.controller';
import { ProjectStatesService } from './projects/project-states.service';
import { TreeRemovalService } from './tree-removal.service';

/** Deletion, restoring and removal of users, groups and projects, with the rows of all wings that are removed with them. */
@Owns(UserRemoval)
@Module({
  imports: [
    DirectoryModule,
    UsersModule,
    NamespacesModule,
    MembersModule,
    TokensModule,
    ProjectsModule,
    GroupsModule,
    ServiceAccountsModule,
  ],
  controllers: [GroupStatesController, ProjectStatesController, UserRemovalController],
  providers: [
    DeletionMarksService,
    TreeRemovalService,
    RemovedGroupAndProjectCleanup,
    GroupStatesService,
    GroupServiceAccountsRemoval,
    ProjectStatesService,
    UserRemovalService,
    UserRemovalSteps,
    SolelyOwnedGroups,
    AccountRemoval,
    ResourcesLostInRestoreService,
    EndedBotsRemovalJob,
    UserRemovalJob,
    DueRemovalsJob,
  ],
})
export class RemovalModule {}
