import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { CALLER_SOURCE, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { ServiceName } from '@rookery/contracts';
import { InternalKeys, Neighbours, platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { DirectoryApplier } from './copy/applier';
import { DirectoryApplierLoop } from './copy/applier-loop';
import { DirectoryCopyProgress } from './copy/copy-progress';
import { DirectoryDecisions } from './decisions/decisions';
import { Directory } from './directory';
import { IdentityClient } from './copy/identity-client';

/**
 * Provides the directory of a service: the applier that keeps its copy, `Directory` (also as SCOPE_RESOLVER), and
 * IdentityClient (also as CALLER_SOURCE). Global. Not for identity, which decides from its own tables.
 * Requires PlatformModule and PersistenceModule, and `directoryMigrations` among the service's migrations.
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
          inject: [platformSettings.token, InternalKeys, Neighbours],
          useFactory: (settings: SettingsOf<typeof platformSettings>, keys: InternalKeys, neighbours: Neighbours) =>
            new IdentityClient(
              settings.identityUrl,
              keys.signAuthorization(o.service, 'identity'),
              o.service,
              neighbours,
            ),
        },
        DirectoryCopyProgress,
        DirectoryDecisions,
        DirectoryApplier,
        DirectoryApplierLoop,
        Directory,
        { provide: SCOPE_RESOLVER, useExisting: Directory },
        { provide: CALLER_SOURCE, useExisting: IdentityClient },
      ],
      exports: [Directory, IdentityClient, SCOPE_RESOLVER, CALLER_SOURCE],
    };
  }
}
