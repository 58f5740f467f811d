import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { createAttachedRowDeletionControllers, DirectoryModule } from '@rookery/directory';
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
import { migrations } from './database';
import { GistsModule } from './gists/gists.module';
import { ImportsModule } from './imports/imports.module';
import { UpstreamPeopleModule } from './people/people.module';
import { UpstreamClientsModule } from './sources/sources.module';
import { ImportStagesModule } from './stages/stages.module';

const service = 'import';

/** Root module: the wings of the import service. */
@Module({ imports: [UpstreamPeopleModule, UpstreamClientsModule, ImportStagesModule, ImportsModule, GistsModule] })
export class ImportModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = pickSettings(values, databaseSettingsFor(service));
    const attached = attachedTablesIn(ImportModule);
    refuseUnreachableAttachments(attached);
    return {
      module: ImportModule,
      controllers: createAttachedRowDeletionControllers(attached),
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities: entitiesOf(ImportModule), settings, migrations }),
        MessagingModule.forRoot({ service }),
        JobsModule.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
      ],
    };
  }
}
