import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { UserList } from './user-list.entity';
import { UserListsController } from './user-lists.controller';
import { FeatureFlagsUserListsService } from './user-lists.service';

const attachedUserLists = declareAttachedTable({
  table: 'feature_flags_user_lists',
  project: { column: 'project_id', because: 'flags, lists and clients are removed in this order (`flagsOfProjects`)' },
});

/** Lists of application users, by external ids, for the strategies of feature flags. */
@Owns(UserList)
@Attaches(attachedUserLists)
@Module({ controllers: [UserListsController], providers: [FeatureFlagsUserListsService] })
export class FeatureFlagsUserListsModule {}
