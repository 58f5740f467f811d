import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { EmailsModule } from '../emails/emails.module';
import { UsersModule } from '../users/users.module';
import {
  GroupAccessRequestsController,
  ProjectAccessRequestsController,
} from './access-requests/access-requests.controller';
import { AccessRequestsService } from './access-requests/access-requests.service';
import { MembershipExpiryJob } from './expiry.job';
import { MembersQueries } from './listing/members.queries';
import { AccessRequest, Member, Share } from './member.entity';
import { GroupMembersController, ProjectMembersController } from './members.controller';
import { MembersService } from './members.service';
import { MemberRules } from './member-rules';
import { NewMembersService } from './new-members.service';
import { MembershipsService } from './memberships.service';
import { SharesService } from './sharing/shares.service';

/** Membership in groups and projects with access levels: members, access requests, invited groups. */
@Owns(AccessRequest, Member, Share)
@Module({
  imports: [DirectoryModule, EmailsModule, UsersModule],
  controllers: [
    GroupMembersController,
    ProjectMembersController,
    GroupAccessRequestsController,
    ProjectAccessRequestsController,
  ],
  providers: [
    MembersQueries,
    MembersService,
    NewMembersService,
    MembershipsService,
    MemberRules,
    AccessRequestsService,
    SharesService,
    MembershipExpiryJob,
  ],
  exports: [MembersQueries, MembershipsService, SharesService],
})
export class MembersModule {}
