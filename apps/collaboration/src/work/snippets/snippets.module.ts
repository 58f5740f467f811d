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
} from './snippet-talk.controller';
import { Snippet, SnippetFile } from './snippet.entity';
import { SnippetsEverywhereQueries } from './snippets-everywhere.queries';
import { SnippetsQueries } from './snippets.queries';
import { SnippetsService } from './snippets.service';

/** Files that somebody shows others, in projects and outside of them, and the routes of their notes. */
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
