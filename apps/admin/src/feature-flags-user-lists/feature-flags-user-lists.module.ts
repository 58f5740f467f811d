import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { UserList } from './user-list.entity';
import { UserListsController } from './user-lists.controller';
import { UserListsService } from './user-lists.service';

/** Lists of application users, by external ids, for the strategies of feature flags. */
@Owns(UserList)
@Module({ controllers: [UserListsController], providers: [UserListsService] })
export class FeatureFlagsUserListsModule {}
