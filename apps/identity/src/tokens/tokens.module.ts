import { Module } from '@nestjs/common';
import { CALLER_SOURCE } from '@rookery/api-v4';
import type { CallerSource } from '@rookery/api-v4';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { EmailsModule } from '../emails/emails.module';
import { MembersModule } from '../members/members.module';
import { UsersModule } from '../users/users.module';
import { AccessToken } from './access-token.entity';
import { AccessTokensQueries } from './access-tokens.queries';
import { AccessTokensService } from './access-tokens.service';
import { TokenExpiryNotices } from './notices/expiry-notices';
import { TokenMailFacts } from './notices/token-mails';
import { TokenNoticeRecipients } from './notices/token-recipients';
import { ImpersonationTokensController } from './personal/impersonation-tokens.controller';
import { OwnTokensController } from './personal/own-tokens.controller';
import { PersonalAccessTokensController } from './personal/personal-access-tokens.controller';
import { TokenAssociationsQueries } from './personal/token-associations.queries';
import { JobTokenResolution } from './resolution/job-resolution';
import { PackageClient } from './resolution/package-client';
import { TokenResolution } from './resolution/token-resolution';
import { TokenResolutionController } from './resolution/token-resolution.controller';
import { TokenUse } from './resolution/token-use';
import { BotUsers } from './resource/bot-users';
import { GroupTokensController } from './resource/group-tokens.controller';
import { LeakedTokensQueries } from './resource/leaked-tokens.queries';
import { GroupAccessTokensController, ProjectAccessTokensController } from './resource/resource-tokens.controller';
import { ResourceTokensQueries } from './resource/resource-tokens.queries';
import { ResourceTokensService } from './resource/resource-tokens.service';
import { TokenRows } from './token-rows';
import { TokenTerms } from './token-terms';
import { TokenExpiryNoticesJob } from './token-upkeep.job';

/** Access tokens of users, groups and projects: creation, rotation, revocation, resolution, and expiry notices. */
@Owns(AccessToken)
@Module({
  imports: [DirectoryModule, EmailsModule, MembersModule, UsersModule],
  controllers: [
    PersonalAccessTokensController,
    ImpersonationTokensController,
    OwnTokensController,
    GroupAccessTokensController,
    ProjectAccessTokensController,
    GroupTokensController,
    TokenResolutionController,
  ],
  providers: [
    AccessTokensQueries,
    AccessTokensService,
    TokenTerms,
    TokenRows,
    TokenAssociationsQueries,
    JobTokenResolution,
    PackageClient,
    TokenResolution,
    {
      provide: CALLER_SOURCE,
      inject: [TokenResolution],
      useFactory: (resolution: TokenResolution): CallerSource => resolution,
    },
    TokenUse,
    ResourceTokensQueries,
    ResourceTokensService,
    BotUsers,
    LeakedTokensQueries,
    TokenNoticeRecipients,
    TokenMailFacts,
    TokenExpiryNotices,
    TokenExpiryNoticesJob,
  ],
  exports: [AccessTokensQueries, AccessTokensService, TokenRows],
})
export class TokensModule {}
