import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { ImportsModule } from '../imports/imports.module';
import { UpstreamClientsModule } from '../sources/sources.module';
import { GistImport } from './gist-import.entity';
import { GistImportRecords } from './gist-import-records';
import { GistImportsJob } from './gist-imports.job';
import { GistsController } from './gists.controller';
import { GistsService } from './gists.service';
import { ImportSnippetsClient } from './import-snippets-client';

const attachedGistImports = declareAttachedTable({
  table: 'gist_imports',
  stays: {
    user_id: 'Collaboration writes no snippet for a removed user, and the row is deleted a week after its import.',
  },
});

/** Imports of gists as personal snippets of their users. */
@Owns(GistImport)
@Attaches(attachedGistImports)
@Module({
  imports: [ImportsModule, UpstreamClientsModule],
  controllers: [GistsController],
  providers: [GistImportRecords, GistImportsJob, GistsService, ImportSnippetsClient],
})
export class GistsModule {}
