import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { NugetPublishingController } from './nuget-publishing.controller';
import { NugetReadingOfGroupsController, NugetReadingOfProjectsController } from './nuget-reading.controller';
import { NugetReleases } from './nuget-releases';
import { NugetRemovals } from './nuget-removals';
import { NugetVersion } from './nuget-version.entity';
import { NugetQueries } from './nuget.queries';
import { NugetService } from './nuget.service';
import { NuspecReader } from './nuspec-reader';

const attachedVersions = attachedTo({
  table: 'nuget_versions',
  key: 'package_id',
  project: { column: 'project_id', because: 'The foreign key removes the version of a package.' },
  stays: { package_id: 'The foreign key removes the version of a package.' },
});

/** The registry of NuGet packages: pushes, documents for clients, and downloads. */
@Owns(NugetVersion)
@Attaches(attachedVersions)
@Module({
  imports: [BlobsModule, PackagesModule, ProtectionRulesModule],
  controllers: [NugetPublishingController, NugetReadingOfProjectsController, NugetReadingOfGroupsController],
  providers: [NugetService, NugetReleases, NugetRemovals, NugetQueries, NuspecReader],
})
export class NugetModule {}
