import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule, createAttachedRowDeletionControllers } from '@rookery/directory';
import { InstanceModule } from '@rookery/instance';
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
import { CommitStatusesModule } from './ci/commit-statuses/commit-statuses.module';
import { CiJobsModule } from './ci/jobs/jobs.module';
import { PipelinesModule } from './ci/pipelines/pipelines.module';
import { PushPipelineStartsModule } from './ci/pushes/pushes.module';
import { TriggersModule } from './ci/triggers/triggers.module';
import { migrations } from './database';
import { DependencyExportsModule } from './dependency-exports/dependency-exports.module';
import { PackageSettingsModule } from './package-settings/package-settings.module';
import { PackagesModule } from './packages/packages.module';
import { ProtectionRulesModule } from './protection-rules/protection-rules.module';
import { ComposerModule } from './registries/composer/composer.module';
import { ConanModule } from './registries/conan/conan.module';
import { GenericPackagesModule } from './registries/generic/generic.module';
import { GoRegistryModule } from './registries/go/go.module';
import { HelmModule } from './registries/helm/helm.module';
import { MavenModule } from './registries/maven/maven.module';
import { NpmModule } from './registries/npm/npm.module';
import { NugetModule } from './registries/nuget/nuget.module';
import { PypiModule } from './registries/pypi/pypi.module';
import { TerraformModule } from './registries/terraform/terraform.module';
import { UploadsModule } from './uploads/uploads.module';

const service = 'package';

/** Root module: the wings of the package service. */
@Module({
  imports: [
    ProtectionRulesModule,
    PackageSettingsModule,
    PackagesModule,
    ComposerModule,
    ConanModule,
    GenericPackagesModule,
    GoRegistryModule,
    HelmModule,
    MavenModule,
    NpmModule,
    NugetModule,
    PypiModule,
    TerraformModule,
    PipelinesModule,
    CiJobsModule,
    CommitStatusesModule,
    TriggersModule,
    PushPipelineStartsModule,
    DependencyExportsModule,
    UploadsModule,
  ],
})
export class PackageModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = pickSettings(values, databaseSettingsFor(service));
    const attached = attachedTablesIn(PackageModule);
    refuseUnreachableAttachments(attached);
    return {
      module: PackageModule,
      controllers: createAttachedRowDeletionControllers(attached),
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities: entitiesOf(PackageModule), settings, migrations }),
        MessagingModule.forRoot({ service }),
        JobsModule.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
        InstanceModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
      ],
    };
  }
}
