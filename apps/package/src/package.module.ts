import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule, droppedByDeclaration } from '@rookery/directory';
import { InstanceModule } from '@rookery/instance';
import { MessagingModule } from '@rookery/messaging';
import {
  attachedIn,
  databaseSettingsFor,
  entitiesOf,
  PersistenceModule,
  refuseUnreachable,
} from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { migrations } from './database';
import { ProtectionRulesModule } from './protection-rules/protection-rules.module';

const service = 'package';

/** Root module: the wings of the package service. */
@Module({ imports: [ProtectionRulesModule] })
export class PackageModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = settingsIn(values, databaseSettingsFor(service));
    const attached = attachedIn(PackageModule);
    refuseUnreachable(attached);
    return {
      module: PackageModule,
      controllers: droppedByDeclaration(attached),
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities: entitiesOf(PackageModule), settings, migrations }),
        MessagingModule.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
        InstanceModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
      ],
    };
  }
}
