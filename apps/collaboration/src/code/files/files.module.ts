import { Module } from '@nestjs/common';
import { ProtectedRefsModule } from '../protected-refs/protected-refs.module';
import { RepositoriesModule } from '../repositories/repositories.module';
import { ArchivesController } from './archives/archives.controller';
import { GoSourceController } from './archives/go-source.controller';
import { SourceCodeController } from './archives/source-code.controller';
import { BlobContents } from './blobs/blob-contents';
import { BlobsController } from './blobs/blobs.controller';
import { FileRateLimits } from './blobs/file-limits';
import { CommitActionsController } from './changes/commit-actions.controller';
import { FileChanges } from './changes/file-changes';
import { FileChangesController } from './changes/file-changes.controller';
import { FileFinder } from './contents/file-finder';
import { FilesController } from './contents/files.controller';
import { Languages } from './languages/languages';
import { LanguagesController } from './languages/languages.controller';
import { FoldersService } from './trees/folders.service';
import { TreesController } from './trees/trees.controller';

/** Files of repositories: folders, blobs, archives, and commits that change files. */
@Module({
  imports: [ProtectedRefsModule, RepositoriesModule],
  controllers: [
    ArchivesController,
    BlobsController,
    CommitActionsController,
    FileChangesController,
    FilesController,
    GoSourceController,
    LanguagesController,
    SourceCodeController,
    TreesController,
  ],
  providers: [BlobContents, FileChanges, FileFinder, FileRateLimits, FoldersService, Languages],
})
export class FilesModule {}
