import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule, createAttachedRowDeletionControllers } from '@rookery/directory';
import { JobsModule } from '@rookery/jobs';
import { MessagingModule } from '@rookery/messaging';
import {
  attachedTablesIn,
  databaseSettingsFor,
  entitiesOf,
  PersistenceModule,
  refuseUnreachableAttachments,
} from '@rookery/persistence';
import { PlatformModule, pickSettings } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { ApplicationSettingsModule } from './application-settings/application-settings.module';
import { BroadcastMessagesModule } from './broadcast-messages/broadcast-messages.module';
import { migrations } from './database';
import { FeatureFlagsClientsModule } from './feature-flags-clients/feature-flags-clients.module';
import { FeatureFlagsUserListsModule } from './feature-flags-user-lists/feature-flags-user-lists.module';
import { FeatureFlagsModule } from './feature-flags/feature-flags.module';
import { FeaturesModule } from './features/features.module';
import { GeoSitesModule } from './geo-sites/geo-sites.module';
import { InstanceConfigModule } from './instance/instance.module';
import { LicensesModule } from './licenses/licenses.module';
import { PlanLimitsModule } from './plan-limits/plan-limits.module';

const service = 'admin';

/** Root module: the wings of the admin service. */
@Module({
  imports: [
    ApplicationSettingsModule,
    BroadcastMessagesModule,
    FeatureFlagsClientsModule,
    FeatureFlagsModule,
    FeatureFlagsUserListsModule,
    FeaturesModule,
    GeoSitesModule,
    InstanceConfigModule,
    LicensesModule,
    PlanLimitsModule,
  ],
})
export class AdminModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = pickSettings(values, databaseSettingsFor(service));
    const attached = attachedTablesIn(AdminModule);
    refuseUnreachableAttachments(attached);
    return {
      module: AdminModule,
      controllers: createAttachedRowDeletionControllers(attached),
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities: entitiesOf(AdminModule), settings, migrations }),
        MessagingModule.forRoot({ service }),
        JobsModule.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
      ],
    };
  }
}
