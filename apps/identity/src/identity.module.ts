import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { InstanceModule } from '@rookery/instance';
import { JobsModule } from '@rookery/jobs';
import { MessagingModule } from '@rookery/messaging';
import { databaseSettingsFor, entitiesOf, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, pickSettings } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { AvatarsModule } from './avatars/avatars.module';
import { BadgesModule } from './badges/badges.module';
import { BootstrapModule } from './bootstrap/bootstrap.module';
import { CustomAttributesModule } from './custom-attributes/custom-attributes.module';
import { migrations } from './database';
import { DirectoryModule } from './directory/directory.module';
import { EmailsModule } from './emails/emails.module';
import { GroupsModule } from './groups/groups.module';
import { MembersModule } from './members/members.module';
import { NamespacesModule } from './namespaces/namespaces.module';
import { PlaceholderUsersModule } from './placeholder-users/placeholder-users.module';
import { ProjectsModule } from './projects/projects.module';
import { RemovalModule } from './removal/removal.module';
import { ServiceAccountsModule } from './service-accounts/service-accounts.module';
import { StatisticsModule } from './statistics/statistics.module';
import { TokensModule } from './tokens/tokens.module';
import { TopicsModule } from './topics/topics.module';
import { UsersModule } from './users/users.module';
import { WebSessionsModule } from './web-sessions/web-sessions.module';

/** Root module: the wings of the identity service, in the order of their dependencies. */
@Module({
  imports: [
    DirectoryModule,
    StatisticsModule,
    NamespacesModule,
    AvatarsModule,
    CustomAttributesModule,
    TopicsModule,
    UsersModule,
    EmailsModule,
    MembersModule,
    TokensModule,
    WebSessionsModule,
    PlaceholderUsersModule,
    ProjectsModule,
    GroupsModule,
    ServiceAccountsModule,
    BadgesModule,
    RemovalModule,
    BootstrapModule,
  ],
})
export class IdentityModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = pickSettings(values, databaseSettingsFor('identity'));
    return {
      module: IdentityModule,
      imports: [
        PlatformModule.forRoot({ service: 'identity', values }),
        PersistenceModule.forRoot({ service: 'identity', entities: entitiesOf(IdentityModule), settings, migrations }),
        MessagingModule.forRoot({ service: 'identity' }),
        JobsModule.forRoot({ service: 'identity' }),
        InstanceModule.forRoot({ service: 'identity' }),
        ApiV4Module.forRoot({ service: 'identity', connections: settings.poolCount }),
      ],
    };
  }
}
