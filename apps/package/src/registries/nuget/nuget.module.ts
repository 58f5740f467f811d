import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { NugetPublishingController } from './nuget-publishing.controller';
import { NugetReadingOfGroupsController, NugetReadingOfProjectsController } from './nuget-reading.controller';
import { NugetReleases } from './nuget-releases';
import { NugetRemovals } from './nuget-removals';
import { NugetVersion } from './nuget-version.entity';
import { NugetQueries } from './nuget.queries';
import { NugetService } from './nuget.service';
import { NugetPlaces } from './nuget-places';
import { NuspecReader } from './nuspec-reader';
import { NugetSymbol } from './symbols/nuget-symbol.entity';
import { SymbolReader } from './symbols/symbol-reader';
import { SymbolsOfGroupsController, SymbolsOfProjectsController } from './symbols/symbols.controller';
import { SymbolsQueries } from './symbols/symbols.queries';
import { FeedController } from './v2/feed.controller';
import { FeedQueries } from './v2/feed.queries';

const attachedVersions = declareAttachedTable({
  table: 'nuget_versions',
  key: 'package_id',
  project: { column: 'project_id', because: 'The foreign key removes the version of a package.' },
  stays: { package_id: 'The foreign key removes the version of a package.' },
});
const attachedSymbols = declareAttachedTable({
  table: 'nuget_symbols',
  key: 'file_id',
  project: { column: 'project_id', because: 'The foreign key removes the symbols of a file.' },
  stays: { file_id: 'The foreign key removes the symbols of a file.' },
});

/** The registry of NuGet packages: pushes, documents for clients, and downloads. */
@Owns(NugetVersion, NugetSymbol)
@Attaches(attachedVersions, attachedSymbols)
@Module({
  imports: [BlobsModule, PackagesModule, ProtectionRulesModule],
  controllers: [
    NugetPublishingController,
    NugetReadingOfProjectsController,
    NugetReadingOfGroupsController,
    SymbolsOfProjectsController,
    SymbolsOfGroupsController,
    FeedController,
  ],
  providers: [
    ...[NugetService, NugetReleases, NugetRemovals, NugetQueries, NugetPlaces],
    ...[NuspecReader, SymbolReader, SymbolsQueries, FeedQueries],
  ],
})
export class NugetModule {}
