import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { ServiceName } from '@rookery/contracts';
import { InternalKeys, IS_SERVING, Neighbours, platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { AdminClient } from './admin-client';
import { InstanceSettings } from './instance';
import { InstanceSettingsPoller } from './instance-settings-poller';
import { InstanceAnswerStore } from './instance-answer-store';

/**
 * Provides `InstanceSettings` for a service and keeps it current. Global. Needs PlatformModule and PersistenceModule,
 * `instanceMigrations` in the database, and `applicationSettings` among the settings of the process. Admin does not use
 * it, because it reads its own tables.
 */
@Module({})
export class InstanceModule {
  static forRoot(o: { readonly service: Exclude<ServiceName, 'admin'> }): DynamicModule {
    return {
      module: InstanceModule,
      global: true,
      providers: [
        {
          provide: AdminClient,
          inject: [platformSettings.token, InternalKeys, IS_SERVING, Neighbours],
          useFactory: (
            { adminUrl }: SettingsOf<typeof platformSettings>,
            keys: InternalKeys,
            isServing: boolean,
            neighbours: Neighbours,
          ): AdminClient | null =>
            isServing && adminUrl !== null
              ? new AdminClient(adminUrl, keys.signAuthorization(o.service, 'admin'), o.service, neighbours)
              : null,
        },
        InstanceSettings,
        InstanceAnswerStore,
        InstanceSettingsPoller,
      ],
      exports: [InstanceSettings],
    };
  }
}
