import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ImportedObjectsModule } from '../../base/imported-objects/imported-objects.module';
import { ProtectedRefsModule } from '../../code/protected-refs/protected-refs.module';
import { RefsModule } from '../../code/refs/refs.module';
import { RepositoriesModule } from '../../code/repositories/repositories.module';
import { ReleaseLink } from './links/release-link.entity';
import { ReleaseLinksController } from './links/release-links.controller';
import { ReleaseLinksQueries } from './links/release-links.queries';
import { ReleaseAddressesController } from './release-addresses.controller';
import { ReleaseAnswers } from './release-answers';
import { ReleaseImports } from './release-imports';
import { ReleaseMilestonesQueries } from './release-milestones.queries';
import { attachedReleases } from './release-removal';
import { ReleaseTags } from './release-tags';
import { Release, ReleaseMilestone } from './release.entity';
import { ReleasesController } from './releases.controller';
import { ReleasesQueries } from './releases.queries';
import { ReleasesService } from './releases.service';

/** Releases of projects with their links and milestones. */
@Owns(Release, ReleaseLink, ReleaseMilestone)
@Attaches(attachedReleases)
@Module({
  imports: [ImportedObjectsModule, ProtectedRefsModule, RefsModule, RepositoriesModule],
  controllers: [ReleaseAddressesController, ReleaseLinksController, ReleasesController],
  providers: [
    ReleaseAnswers,
    ReleaseImports,
    ReleaseLinksQueries,
    ReleaseMilestonesQueries,
    ReleasesQueries,
    ReleasesService,
    ReleaseTags,
  ],
})
export class ReleasesModule {}
