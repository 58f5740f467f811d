import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { PackageSettingsModule } from '../package-settings/package-settings.module';
import { ProtectionRulesModule } from '../protection-rules/protection-rules.module';
import { DownloadLog } from './downloads/download-log';
import { PackageIndex } from './indexing/package-index.entity';
import { PackageTag } from './indexing/package-tag.entity';
import { PackagesQueries } from './listing/packages.queries';
import { PackageFile } from './package-file.entity';
import { PackageFiles } from './package-files';
import { Package } from './package.entity';
import { PackagesController } from './packages.controller';
import { DuplicateFiles } from './publishing/duplicate-files';
import { PackagePublishing } from './publishing/package-publishing';
import { StorageQuota } from './publishing/storage-quota';
import { UploadGate } from './publishing/upload-gate';
import { UploadReceipts } from './publishing/upload-receipts';
import { BlobSweepJob } from './removal/blob-sweep.job';
import { DestructionJob } from './removal/destruction.job';
import { PackageRemoval } from './removal/package-removal';
import { SourceCode } from './source/source-code';
import { StorageJob } from './storage.job';

const attachedPackages = attachedTo({
  table: 'packages',
  project: 'project_id',
  stays: { creator_id: 'Answers show it as a number only, and the id of a deleted user is not given again.' },
});
const attachedPackageFiles = attachedTo({
  table: 'package_files',
  project: 'project_id',
  stays: {
    package_id: 'The foreign key removes the files of a package.',
    unanswered_token_id: 'Only compared, and the id of a deleted token is not given again.',
  },
});

const attachedPackageIndexes = attachedTo({ table: 'package_indexes', key: 'ctid', project: 'project_id' });
const attachedPackageTags = attachedTo({
  table: 'package_tags',
  project: 'project_id',
  stays: { package_id: 'The foreign key removes the tags of a package.' },
});

/** Packages of all formats with their files: lists, downloads, uploads and deletion. */
@Owns(Package, PackageFile, PackageIndex, PackageTag)
@Attaches(attachedPackageTags, attachedPackageFiles, attachedPackages, attachedPackageIndexes)
@Module({
  imports: [BlobsModule, PackageSettingsModule, ProtectionRulesModule],
  controllers: [PackagesController],
  providers: [
    PackagesQueries,
    PackageFiles,
    PackagePublishing,
    PackageRemoval,
    UploadGate,
    StorageQuota,
    DuplicateFiles,
    UploadReceipts,
    DownloadLog,
    SourceCode,
    StorageJob,
    DestructionJob,
    BlobSweepJob,
  ],
  exports: [PackageFiles, PackagePublishing, PackageRemoval, UploadGate, DuplicateFiles, UploadReceipts, SourceCode],
})
export class PackagesModule {}
