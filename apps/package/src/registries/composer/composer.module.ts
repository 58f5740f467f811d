import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ComposerProjectController } from './composer-project.controller';
import { ComposerReleases } from './composer-releases';
import { ComposerRepositoryController } from './composer-repository.controller';
import { ComposerVersion } from './composer-version.entity';
import { ComposerQueries } from './composer.queries';
import { ComposerService } from './composer.service';

const attachedVersions = declareAttachedTable({
  table: 'composer_versions',
  key: 'package_id',
  project: { column: 'project_id', because: 'The foreign key removes the version of a package.' },
  stays: { package_id: 'The foreign key removes the version of a package.' },
});

/** The registry of Composer packages: versions made from tags and branches, repositories of groups, and archives. */
@Owns(ComposerVersion)
@Attaches(attachedVersions)
@Module({
  imports: [PackagesModule],
  controllers: [ComposerProjectController, ComposerRepositoryController],
  providers: [ComposerService, ComposerReleases, ComposerQueries],
})
export class ComposerModule {}
