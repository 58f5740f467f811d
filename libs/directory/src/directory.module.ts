import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { CALLER_SOURCE, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { ServiceName } from '@rookery/contracts';
import { InternalKeys, platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { Applier } from './copy/applier';
import { ApplierLoop } from './copy/applier-loop';
import { CopyProgress } from './copy/copy-progress';
import { Decisions } from './decisions/decisions';
import { Directory } from './directory';
import { IdentityClient } from './copy/identity-client';

/**
 * The directory of a service: the applier that keeps its copy, `Directory`, and `Directory` as SCOPE_RESOLVER; its
 * IdentityClient also as CALLER_SOURCE. Global.
 * Needs PlatformModule and PersistenceModule, and `directoryMigrations` among the service's migrations.
 * Shape: identity is no service in this sense; it decides over its own tables.
 */
@Module({})
export class DirectoryModule {
  static forRoot(o: { readonly service: Exclude<ServiceName, 'identity'> }): DynamicModule {
    return {
      module: DirectoryModule,
      global: true,
      providers: [
        {
          provide: IdentityClient,
          inject: [platformSettings.token, InternalKeys],
          useFactory: (settings: SettingsOf<typeof platformSettings>, keys: InternalKeys) =>
            new IdentityClient(settings.identityUrl, keys.authorization(o.service, 'identity'), o.service),
        },
        CopyProgress,
        Decisions,
        Applier,
        ApplierLoop,
        Directory,
        { provide: SCOPE_RESOLVER, useExisting: Directory },
        { provide: CALLER_SOURCE, useExisting: IdentityClient },
      ],
      exports: [Directory, IdentityClient, SCOPE_RESOLVER, CALLER_SOURCE],
    };
  }
}
