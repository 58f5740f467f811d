import { instanceMigrations } from '@rookery/instance';
import { jobMigrations } from '@rookery/jobs';
import type { MigrationClass } from '@rookery/persistence';
import { plumbingMigrations } from '@rookery/persistence';
import { Avatar } from './avatars/avatar.entity';
import { Badge } from './badges/badge.entity';
import { CustomAttribute } from './custom-attributes/custom-attribute.entity';
import { DirectoryChange, DirectoryHead } from './directory/directory.entity';
import { EmailConfirmationCount } from './emails/confirming/email-confirmation-count.entity';
import { AccessRequest, Member, Share } from './members/member.entity';
import { CreateUsers1767225600000 } from './migrations/1767225600000-create-users';
import { CreateAccessTokens1767225600001 } from './migrations/1767225600001-create-access-tokens';
import { CreateNamespacesAndProjects1767225600002 } from './migrations/1767225600002-create-namespaces-and-projects';
import { CreateMemberships1767225600003 } from './migrations/1767225600003-create-memberships';
import { CreateDirectoryLog1767225600004 } from './migrations/1767225600004-create-directory-log';
import { CreateNamespaceAncestors1767225600005 } from './migrations/1767225600005-create-namespace-ancestors';
import { CreateAvatars1767225600006 } from './migrations/1767225600006-create-avatars';
import { CreateCustomAttributes1767225600007 } from './migrations/1767225600007-create-custom-attributes';
import { CreateBadges1767225600008 } from './migrations/1767225600008-create-badges';
import { IndexEndsOfShares1767225600009 } from './migrations/1767225600009-index-ends-of-shares';
import { CreateNamespaceChecksAndSeats1767225600010 } from './migrations/1767225600010-create-namespace-checks-and-seats';
import { CreateProjectStatistics1767225600011 } from './migrations/1767225600011-create-project-statistics';
import { OrderReachedGroups1767225600012 } from './migrations/1767225600012-order-reached-groups';
import { CreateProjectStars1767225600014 } from './migrations/1767225600014-create-project-stars';
import { AddForksToProjects1767225600015 } from './migrations/1767225600015-add-forks-to-projects';
import { CreateTopics1767225600016 } from './migrations/1767225600016-create-topics';
import { IndexSizesOfProjects1767225600017 } from './migrations/1767225600017-index-sizes-of-projects';
import { AddResourcesToAccessTokens1767225600019 } from './migrations/1767225600019-add-resources-to-access-tokens';
import { AddConfirmationsToEmails1767225600021 } from './migrations/1767225600021-add-confirmations-to-emails';
import { CreateServiceAccounts1767225600022 } from './migrations/1767225600022-create-service-accounts';
import { CreateUserRemovals1767225600024 } from './migrations/1767225600024-create-user-removals';
import { AddOrdersToUsers1767225600025 } from './migrations/1767225600025-add-orders-to-users';
import { CreateAccessRequests1767225600026 } from './migrations/1767225600026-create-access-requests';
import { AddLastUsedIpsToAccessTokens1767225600029 } from './migrations/1767225600029-add-last-used-ips-to-access-tokens';
import { IndexUnconfirmedEmails1767225600030 } from './migrations/1767225600030-index-unconfirmed-emails';
import { CountPublicIssues1767225600040 } from './migrations/1767225600040-count-public-issues';
import { DropIpRestrictionRanges1767225600041 } from './migrations/1767225600041-drop-ip-restriction-ranges';
import { TellFeatureLevels1767225600042 } from './migrations/1767225600042-tell-feature-levels';
import { Namespace, NamespaceSeats } from './namespaces/namespace.entity';
import {
  LeadingNamespace,
  NamespaceAncestor,
  NamespaceCheck,
  RedirectRoute,
  SiblingPath,
} from './namespaces/paths/paths.entity';
import { Project, ProjectStar } from './projects/project.entity';
import { UserRemoval } from './removal/people/user-removal.entity';
import { ServiceAccount } from './service-accounts/service-account.entity';
import { ProjectFigures } from './statistics/project-statistics.entity';
import { AccessToken } from './tokens/access-token.entity';
import { ProjectTopic, Topic } from './topics/topic.entity';
import { Email } from './users/addresses/email.entity';
import { Identity, User } from './users/user.entity';

/** Every table's entity, wing by wing. */
export const entities = [
  DirectoryHead,
  DirectoryChange,
  Namespace,
  NamespaceSeats,
  SiblingPath,
  RedirectRoute,
  NamespaceAncestor,
  LeadingNamespace,
  NamespaceCheck,
  Avatar,
  CustomAttribute,
  ProjectFigures,
  Topic,
  ProjectTopic,
  User,
  Identity,
  Email,
  EmailConfirmationCount,
  Member,
  AccessRequest,
  Share,
  AccessToken,
  Project,
  ProjectStar,
  ServiceAccount,
  Badge,
  UserRemoval,
];

export const migrations: readonly MigrationClass[] = [
  ...plumbingMigrations,
  ...jobMigrations,
  ...instanceMigrations,
  CreateUsers1767225600000,
  CreateAccessTokens1767225600001,
  CreateNamespacesAndProjects1767225600002,
  CreateMemberships1767225600003,
  CreateDirectoryLog1767225600004,
  CreateNamespaceAncestors1767225600005,
  CreateAvatars1767225600006,
  CreateCustomAttributes1767225600007,
  CreateBadges1767225600008,
  IndexEndsOfShares1767225600009,
  CreateNamespaceChecksAndSeats1767225600010,
  CreateProjectStatistics1767225600011,
  OrderReachedGroups1767225600012,
  CreateProjectStars1767225600014,
  AddForksToProjects1767225600015,
  CreateTopics1767225600016,
  IndexSizesOfProjects1767225600017,
  AddResourcesToAccessTokens1767225600019,
  AddConfirmationsToEmails1767225600021,
  CreateServiceAccounts1767225600022,
  CreateUserRemovals1767225600024,
  AddOrdersToUsers1767225600025,
  CreateAccessRequests1767225600026,
  AddLastUsedIpsToAccessTokens1767225600029,
  IndexUnconfirmedEmails1767225600030,
  CountPublicIssues1767225600040,
  DropIpRestrictionRanges1767225600041,
  TellFeatureLevels1767225600042,
];
