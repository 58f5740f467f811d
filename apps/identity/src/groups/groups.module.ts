import { Module } from '@nestjs/common';
import { AvatarsModule } from '../avatars/avatars.module';
import { DirectoryModule } from '../directory/directory.module';
import { MembersModule } from '../members/members.module';
import { NamespacesModule } from '../namespaces/namespaces.module';
import { ProjectsModule } from '../projects/projects.module';
import { GroupsQueries } from './details/groups.queries';
import { GroupChangesService } from './group-changes.service';
import { GroupsController } from './groups.controller';
import { GroupsService } from './groups.service';
import { GroupListsController } from './listing/group-lists.controller';
import { GroupListsQueries } from './listing/group-lists.queries';
import { GroupMovesController } from './moving/group-moves.controller';
import { GroupMovesService } from './moving/group-moves.service';
import { MovedTreesService } from './moving/moved-trees.service';
import { TransferLocationsQueries } from './moving/transfer-locations.queries';
import { GroupProjectsController } from './projects/group-projects.controller';
import { GroupSharesController } from './sharing/group-shares.controller';
import { LinkedGroupsController } from './sharing/linked-groups.controller';
import { LinkedGroupsQueries } from './sharing/linked-groups.queries';

/** Groups: creating, changing, listing, moving and sharing them, and listing their projects. */
@Module({
  imports: [AvatarsModule, DirectoryModule, MembersModule, NamespacesModule, ProjectsModule],
  controllers: [
    GroupsController,
    GroupListsController,
    GroupProjectsController,
    GroupMovesController,
    GroupSharesController,
    LinkedGroupsController,
  ],
  providers: [
    GroupChangesService,
    GroupListsQueries,
    GroupMovesService,
    GroupsQueries,
    GroupsService,
    LinkedGroupsQueries,
    MovedTreesService,
    TransferLocationsQueries,
  ],
  exports: [GroupChangesService, GroupsQueries],
})
export class GroupsModule {}
