import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { GoController } from './go.controller';
import { GoPins } from './go-pins';
import { GoVersion } from './go-version.entity';
import { GoService } from './go.service';

const attachedVersions = declareAttachedTable({
  table: 'go_versions',
  key: 'package_id',
  project: { column: 'project_id', because: 'The foreign key removes the version of a package.' },
  stays: { package_id: 'The foreign key removes the version of a package.' },
});

/** The proxy of Go modules: versions of tags and commits, their files, and the commit that each version keeps. */
@Owns(GoVersion)
@Attaches(attachedVersions)
@Module({
  imports: [PackagesModule],
  controllers: [GoController],
  providers: [GoService, GoPins],
})
export class GoRegistryModule {}
