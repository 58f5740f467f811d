import { Module } from '@nestjs/common';
import { BlobsModule } from '@rookery/blobs';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
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
import { DuplicateFilePolicy } from './publishing/duplicate-files';
import { PackagePublishing } from './publishing/package-publishing';
import { StorageQuota } from './publishing/storage-quota';
import { PackageUploadGate } from './publishing/upload-gate';
import { UploadAnswerTracker } from './publishing/upload-answer-tracker';
import { BlobSweepJob } from './removal/blob-sweep.job';
import { DestroyDeletedPackagesJob } from './removal/destruction.job';
import { PackageRemoval } from './removal/package-removal';
import { SourceCodeClient } from './source/source-code';
import { MeasurePackageStorageJob } from './storage.job';

const attachedPackages = declareAttachedTable({
  table: 'packages',
  project: 'project_id',
  stays: { creator_id: 'Answers show it as a number only, and the id of a deleted user is not given again.' },
});
const attachedPackageFiles = declareAttachedTable({
  table: 'package_files',
  project: 'project_id',
  stays: {
    package_id: 'The foreign key removes the files of a package.',
    unanswered_token_id: 'Only compared, and the id of a deleted token or job is not given again.',
  },
});

const attachedPackageIndexes = declareAttachedTable({ table: 'package_indexes', key: 'ctid', project: 'project_id' });
const attachedPackageTags = declareAttachedTable({
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
    PackageUploadGate,
    StorageQuota,
    DuplicateFilePolicy,
    UploadAnswerTracker,
    DownloadLog,
    SourceCodeClient,
    MeasurePackageStorageJob,
    DestroyDeletedPackagesJob,
    BlobSweepJob,
  ],
  exports: [
    PackageFiles,
    PackagePublishing,
    PackageRemoval,
    PackageUploadGate,
    DuplicateFilePolicy,
    UploadAnswerTracker,
    SourceCodeClient,
  ],
})
export class PackagesModule {}
