import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { NotificationsModule } from '../../following/notifications/notifications.module';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { attachedImportedSnippets, ImportedSnippet } from './importing/imported-snippet.entity';
import { SnippetImportsController } from './importing/snippet-imports.controller';
import { SnippetImportsService } from './importing/snippet-imports.service';
import { PersonalSnippetsController } from './personal-snippets.controller';
import { ProjectSnippetsController } from './project-snippets.controller';
import {
  SnippetAwardEmojiController,
  SnippetDiscussionsController,
  SnippetNoteAwardEmojiController,
  SnippetNotesController,
  SnippetOriginsController,
} from './snippet-discussions.controller';
import { Snippet, SnippetFile } from './snippet.entity';
import { SnippetsEverywhereQueries } from './snippets-everywhere.queries';
import { SnippetsQueries } from './snippets.queries';
import { SnippetsService } from './snippets.service';

/** Snippets of projects and users, with the routes of their notes and award emojis. */
@Owns(ImportedSnippet, Snippet, SnippetFile)
@Attaches(attachedImportedSnippets)
@Module({
  imports: [AwardEmojiModule, NotesModule, NotificationsModule],
  controllers: [
    PersonalSnippetsController,
    ProjectSnippetsController,
    SnippetAwardEmojiController,
    SnippetDiscussionsController,
    SnippetImportsController,
    SnippetNoteAwardEmojiController,
    SnippetNotesController,
    SnippetOriginsController,
  ],
  providers: [SnippetImportsService, SnippetsEverywhereQueries, SnippetsQueries, SnippetsService],
})
export class SnippetsModule {}
