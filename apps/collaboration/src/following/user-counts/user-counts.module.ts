import { Module } from '@nestjs/common';
import { UserCountsController } from './user-counts.controller';
import { UserCountsQueries } from './user-counts.queries';

/** Numbers of open to-dos, assigned issues and reviews of a person. */
@Module({ controllers: [UserCountsController], providers: [UserCountsQueries] })
export class UserCountsModule {}
