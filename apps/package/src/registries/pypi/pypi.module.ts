import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { PypiController } from './pypi.controller';
import { PypiFile } from './pypi-file.entity';
import { PypiVersion } from './pypi-version.entity';
import { PypiReleasesService } from './releases.service';
import { PypiSimpleIndexQueries } from './simple-index.queries';
import { PypiUploadsService } from './uploads.service';
import { WheelMetadataStore } from './wheel-metadata';

const attachedVersions = declareAttachedTable({
  table: 'pypi_versions',
  key: 'package_id',
  project: { column: 'project_id', because: 'The foreign key removes the version of a package.' },
  stays: { package_id: 'The foreign key removes the version of a package.' },
});
const attachedFiles = declareAttachedTable({
  table: 'pypi_files',
  key: 'file_id',
  stays: { file_id: 'The foreign key removes the row of a file.' },
});

/** The registry of Python packages: uploads, index pages for installers, and downloads. */
@Owns(PypiVersion, PypiFile)
@Attaches(attachedVersions, attachedFiles)
@Module({
  imports: [BlobsModule, PackagesModule, ProtectionRulesModule],
  controllers: [PypiController],
  providers: [PypiReleasesService, PypiSimpleIndexQueries, PypiUploadsService, WheelMetadataStore],
})
export class PypiModule {}
