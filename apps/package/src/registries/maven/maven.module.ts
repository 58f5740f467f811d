import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { MavenController } from './maven.controller';
import { MavenFile } from './maven-file.entity';
import { MavenInstanceAccess } from './maven.permission';
import { MavenPlugin } from './maven-plugin.entity';
import { MavenDownloads } from './maven.presenter';
import { MavenPublishing } from './maven-publishing';
import { MavenQueries } from './maven.queries';
import { MavenService } from './maven.service';
import { MetadataDocuments } from './metadata/metadata-documents';

const attachedMavenFiles = declareAttachedTable({
  table: 'maven_files',
  key: 'file_id',
  stays: { file_id: 'The foreign key removes the facts of a file.' },
});
const attachedMavenPlugins = declareAttachedTable({
  table: 'maven_plugins',
  key: 'ctid',
  stays: {
    package_id: 'The foreign key removes the plugins of a package.',
    artifact_id: 'A name that Maven calls an id.',
  },
});

/** The registry of Maven packages: repositories of projects, groups and the instance. */
@Owns(MavenFile, MavenPlugin)
@Attaches(attachedMavenFiles, attachedMavenPlugins)
@Module({
  imports: [PackagesModule],
  controllers: [MavenController],
  providers: [MavenService, MavenPublishing, MavenQueries, MetadataDocuments, MavenDownloads, MavenInstanceAccess],
})
export class MavenModule {}
