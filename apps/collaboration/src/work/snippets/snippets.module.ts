import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { NotesModule } from '../../talk/notes/notes.module';
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
@Owns(Snippet, SnippetFile)
@Module({
  imports: [AwardEmojiModule, NotesModule],
  controllers: [
    PersonalSnippetsController,
    ProjectSnippetsController,
    SnippetAwardEmojiController,
    SnippetDiscussionsController,
    SnippetNoteAwardEmojiController,
    SnippetNotesController,
    SnippetOriginsController,
  ],
  providers: [SnippetsEverywhereQueries, SnippetsQueries, SnippetsService],
})
export class SnippetsModule {}
