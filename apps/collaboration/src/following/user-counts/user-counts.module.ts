import { Module } from '@nestjs/common';
import { UserCountsController } from './user-counts.controller';
import { UserCountsQueries } from './user-counts.queries';

/** Counts of a user's open to-dos, assigned issues and reviews. */
@Module({ controllers: [UserCountsController], providers: [UserCountsQueries] })
export class UserCountsModule {}
