import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module, SCOPE_RESOLVER } from '@rookery/api-v4';
import { MessagingModule } from '@rookery/messaging';
import { databaseSettingsFor, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { AvatarsController } from './avatars/avatars.controller';
import { AvatarsQueries } from './avatars/avatars.queries';
import { Avatars } from './avatars/avatars.service';
import {
  GroupAccessRequestsController,
  ProjectAccessRequestsController,
} from './access-requests/access-requests.controller';
import { AccountMailsController } from './account-mails/account-mails.controller';
import { AccountMails } from './account-mails/account-mails.service';
import { AccessRequests } from './access-requests/access-requests.service';
import { BadgeRendering } from './badges/badge-rendering';
import { GroupBadgesController, ProjectBadgesController } from './badges/badges.controller';
import { BadgesQueries } from './badges/badges.queries';
import { BadgesService } from './badges/badges.service';
import { CollaborationClient } from './badges/collaboration-client';
import { Bootstrap } from './bootstrap/bootstrap.command';
import {
  GroupCustomAttributesController,
  ProjectCustomAttributesController,
  UserCustomAttributesController,
} from './custom-attributes/custom-attributes.controller';
import { CustomAttributes } from './custom-attributes/custom-attributes.service';
import { entities, migrations } from './database';
import { DirectoryLogModule } from './directory/directory-log.module';
import { EmailConfirmationController } from './email-confirmation/email-confirmation.controller';
import { EmailConfirmations } from './emails/email-confirmations.service';
import { EmailsController } from './emails/emails.controller';
import { EmailsQueries } from './emails/emails.queries';
import { EmailsService } from './emails/emails.service';
import { PrimaryEmails } from './emails/primary-emails';
import { UserEmailsController } from './emails/user-emails.controller';
import { GroupStatesController } from './group-states/group-states.controller';
import { GroupStates } from './group-states/group-states.service';
import { GroupTokensController } from './group-tokens/group-tokens.controller';
import { LeakedTokens } from './group-tokens/leaked-tokens.queries';
import { GroupMovesController } from './group-moves/group-moves.controller';
import { GroupMoves } from './group-moves/group-moves.service';
import { MovedTrees } from './group-moves/moved-trees.repository';
import { TransferLocations } from './group-moves/transfer-locations.queries';
import { GroupListsController } from './group-lists/group-lists.controller';
import { GroupListsQueries } from './group-lists/group-lists.queries';
import { GroupChangesService } from './groups/group-changes.service';
import { GroupDetails } from './group-details/group-details';
import { GroupsController } from './groups/groups.controller';
import { GroupsQueries } from './group-details/groups.queries';
import { GroupsService } from './groups/groups.service';
import { Expiry } from './housekeeping/expiry';
import { HousekeepingJob } from './housekeeping/housekeeping.job';
import { TokenUpkeepJob } from './housekeeping/token-upkeep.job';
import { OwnTokensController } from './personal-tokens/own-tokens.controller';
import { TokenAssociations } from './personal-tokens/token-associations.queries';
import { LinkedGroupsController } from './linked-groups/linked-groups.controller';
import { LinkedGroupsQueries } from './linked-groups/linked-groups.queries';
import { GroupMembersController, ProjectMembersController } from './members/members.controller';
import { MembersQueries } from './member-lists/members.queries';
import { MembersService } from './members/members.service';
import { NamespaceTrees } from './paths/namespace-trees.repository';
import { NamespacePlans } from './namespaces/namespace-plans.service';
import { NamespacesController } from './namespaces/namespaces.controller';
import { NamespacesQueries } from './namespaces/namespaces.queries';
import { PathChecks } from './namespaces/path-checks.service';
import { SeatCountsJob } from './seats/seat-counts.job';
import { SiblingPaths } from './paths/sibling-paths.repository';
import { FormerPaths } from './projects/former-paths';
import { ProjectChangesController } from './project-changes/project-changes.controller';
import { ProjectChanges } from './project-changes/project-changes.service';
import { ProjectCreation } from './project-changes/project-creation.service';
import { ProjectLooks } from './project-changes/project-looks';
import { ProjectPlaces } from './project-changes/project-places';
import { ProjectRows } from './project-changes/project-rows';
import { ProjectForksController } from './project-forks/project-forks.controller';
import { ProjectForks } from './project-forks/project-forks.service';
import { ProjectMovesController } from './project-moves/project-moves.controller';
import { ProjectMoves } from './project-moves/project-moves.service';
import { ProjectStarsController } from './project-stars/project-stars.controller';
import { ProjectStars } from './project-stars/project-stars.service';
import { StarrersQueries } from './project-stars/starrers.queries';
import { ProjectStatesController } from './project-states/project-states.controller';
import { ProjectStates } from './project-states/project-states.service';
import { ProjectUsersController } from './project-users/project-users.controller';
import { GroupProjectsController } from './group-projects/group-projects.controller';
import { ProjectGroupsController } from './project-groups/project-groups.controller';
import { ProjectGroupsQueries } from './project-groups/project-groups.queries';
import { ProjectListsController } from './project-lists/project-lists.controller';
import { ProjectLists } from './project-lists/project-lists.queries';
import { ProjectsController } from './projects/projects.controller';
import { ProjectsQueries } from './projects/projects.queries';
import { RemovalService } from './removal/removal.service';
import { TokenResolution } from './resolution/token-resolution';
import { TokenResolutionController } from './resolution/token-resolution.controller';
import { BotUsers } from './resource-tokens/bot-users';
import { EndedBots } from './resource-tokens/ended-bots';
import {
  GroupAccessTokensController,
  ProjectAccessTokensController,
} from './resource-tokens/resource-tokens.controller';
import { ResourceTokensQueries } from './resource-tokens/resource-tokens.queries';
import { ResourceTokensService } from './resource-tokens/resource-tokens.service';
import { IdentityScopeResolver } from './scope/identity-scope-resolver';
import { NamedNamespaces } from './scope/named-namespaces';
import { GroupSharesController } from './shares/group-shares.controller';
import { ProjectSharesController } from './shares/project-shares.controller';
import { SharesService } from './shares/shares.service';
import { ProjectStatistics } from './statistics/project-statistics';
import { StatisticsConsumer } from './statistics/statistics.consumer';
import { AccountsOfRemovedGroups } from './service-accounts/accounts-of-removed-groups';
import { GroupServiceAccountsController } from './service-accounts/group-service-accounts.controller';
import { InstanceServiceAccountsController } from './service-accounts/instance-service-accounts.controller';
import { ServiceAccountTokensController } from './service-account-tokens/service-account-tokens.controller';
import { ServiceAccountChanges } from './service-accounts/service-account-changes.service';
import { ServiceAccountsQueries } from './service-accounts/service-accounts.queries';
import { ServiceAccountsService } from './service-accounts/service-accounts.service';
import { ExpiryNotices } from './token-notices/expiry-notices';
import { TokenRecipients } from './token-notices/token-recipients';
import { AccessTokensQueries } from './tokens/access-tokens.queries';
import { AccessTokensService } from './tokens/access-tokens.service';
import { ImpersonationTokensController } from './personal-tokens/impersonation-tokens.controller';
import { PersonalAccessTokensController } from './personal-tokens/personal-access-tokens.controller';
import { TokenTerms } from './tokens/token-terms';
import { PersonalNamespace } from './user-changes/personal-namespace';
import { UserChangesController } from './user-changes/user-changes.controller';
import { UserChanges } from './user-changes/user-changes.service';
import { UserMembershipsController } from './user-memberships/user-memberships.controller';
import { UserMembershipsQueries } from './user-memberships/user-memberships.queries';
import { GhostUser } from './user-removal/ghost-user';
import { RemovalSteps } from './user-removal/removal-steps';
import { SoleOwnership } from './user-removal/sole-ownership';
import { UserRemovalController } from './user-removal/user-removal.controller';
import { UserRemovalJob } from './user-removal/user-removal.job';
import { UserRemoval } from './user-removal/user-removal.service';
import { Administrators } from './user-states/administrators';
import { HolderLog } from './user-states/holder-log';
import { UserStatesController } from './user-states/user-states.controller';
import { UserStates } from './user-states/user-states.service';
import { ProjectTopics } from './topics/project-topics';
import { TopicMerge } from './topics/topic-merge.service';
import { TopicsController } from './topics/topics.controller';
import { TopicsQueries } from './topics/topics.queries';
import { TopicsService } from './topics/topics.service';
import { UserProjectsController } from './user-projects/user-projects.controller';
import { UsersController } from './users/users.controller';
import { UsersQueries } from './users/users.queries';
import { UsersService } from './users/users.service';

const avatars = [Avatars, AvatarsQueries];
const attributes = [CustomAttributes];
const badges = [BadgesQueries, BadgesService, BadgeRendering, CollaborationClient];
const users = [
  UsersQueries,
  UsersService,
  UserChanges,
  PersonalNamespace,
  UserStates,
  Administrators,
  HolderLog,
  UserMembershipsQueries,
];
const userRemoval = [UserRemoval, RemovalSteps, SoleOwnership, GhostUser, UserRemovalJob];
const emails = [EmailsQueries, EmailsService, EmailConfirmations, PrimaryEmails, AccountMails];
const serviceAccounts = [
  ServiceAccountsQueries,
  ServiceAccountsService,
  ServiceAccountChanges,
  AccountsOfRemovedGroups,
];
const tokens = [AccessTokensQueries, AccessTokensService, TokenTerms, TokenAssociations, TokenResolution, Bootstrap];
const resourceTokens = [ResourceTokensQueries, ResourceTokensService, BotUsers, EndedBots];
const tokenNotices = [TokenRecipients, ExpiryNotices, TokenUpkeepJob];
const groups = [
  GroupListsQueries,
  LinkedGroupsQueries,
  GroupsQueries,
  GroupsService,
  GroupChangesService,
  GroupDetails,
];
const projects = [ProjectStatistics, ProjectLists, ProjectGroupsQueries, ProjectsQueries, FormerPaths];
const projectWrites = [ProjectCreation, ProjectChanges, ProjectLooks, ProjectPlaces, ProjectRows, ProjectStates];
const projectActs = [ProjectForks, ProjectMoves, ProjectStars, StarrersQueries, NamedNamespaces];
const topics = [ProjectTopics, TopicMerge, TopicsQueries, TopicsService];
const members = [MembersQueries, MembersService, AccessRequests];
const shares = [SharesService, Expiry];
const namespaces = [NamespacesQueries, NamespacePlans, PathChecks, SeatCountsJob];
const groupMoves = [NamespaceTrees, MovedTrees, GroupMoves, TransferLocations, GroupStates, LeakedTokens];
const scope = [SiblingPaths, RemovalService, { provide: SCOPE_RESOLVER, useClass: IdentityScopeResolver }];

/** The rooms of the identity service. */
@Module({
  controllers: [
    UsersController,
    EmailsController,
    UserEmailsController,
    EmailConfirmationController,
    AccountMailsController,
    GroupServiceAccountsController,
    InstanceServiceAccountsController,
    ServiceAccountTokensController,
    UserChangesController,
    UserMembershipsController,
    UserRemovalController,
    UserStatesController,
    PersonalAccessTokensController,
    ImpersonationTokensController,
    TokenResolutionController,
    OwnTokensController,
    GroupAccessTokensController,
    ProjectAccessTokensController,
    GroupsController,
    AvatarsController,
    ProjectBadgesController,
    GroupBadgesController,
    UserCustomAttributesController,
    GroupCustomAttributesController,
    ProjectCustomAttributesController,
    ProjectsController,
    ProjectListsController,
    ProjectGroupsController,
    GroupProjectsController,
    UserProjectsController,
    ProjectChangesController,
    ProjectStatesController,
    ProjectForksController,
    ProjectMovesController,
    ProjectStarsController,
    NamespacesController,
    GroupMovesController,
    GroupStatesController,
    GroupTokensController,
    GroupSharesController,
    ProjectSharesController,
    GroupMembersController,
    ProjectMembersController,
    GroupAccessRequestsController,
    ProjectAccessRequestsController,
    ProjectUsersController,
    TopicsController,
    GroupListsController,
    LinkedGroupsController,
    StatisticsConsumer,
  ],
  providers: [
    ...avatars,
    ...attributes,
    ...badges,
    ...users,
    ...userRemoval,
    ...resourceTokens,
    ...tokenNotices,
    ...emails,
    ...serviceAccounts,
    ...tokens,
    ...groups,
    ...projects,
    ...projectWrites,
    ...projectActs,
    ...topics,
    ...members,
    ...shares,
    ...groupMoves,
    ...namespaces,
    ...scope,
    HousekeepingJob,
  ],
})
export class IdentityModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = settingsIn(values, databaseSettingsFor('identity'));
    return {
      module: IdentityModule,
      imports: [
        PlatformModule.forRoot({ service: 'identity', values }),
        PersistenceModule.forRoot({ service: 'identity', entities, settings, migrations }),
        MessagingModule.forRoot({ service: 'identity' }),
        ApiV4Module.forRoot({ service: 'identity' }),
        DirectoryLogModule,
      ],
    };
  }
}
