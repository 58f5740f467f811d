import { Module } from '@nestjs/common';
import { UserListsController } from './user-lists.controller';
import { UserListsService } from './user-lists.service';

/** Users of applications, by ids of theirs, for the strategies of feature flags. */
@Module({ controllers: [UserListsController], providers: [UserListsService] })
export class FeatureFlagsUserListsModule {}
