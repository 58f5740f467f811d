import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule } from '@rookery/directory';
import { MessagingModule } from '@rookery/messaging';
import { databaseSettingsFor, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { migrations } from './database';

const service = 'import';

@Module({})
export class ImportModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = settingsIn(values, databaseSettingsFor(service));
    return {
      module: ImportModule,
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({
          service,
          entities: [],
          migrations,
          settings,
        }),
        MessagingModule.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
      ],
    };
  }
}
