import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../mentions/mentions.module';
import { NewNotesService } from './new-notes.service';
import { DiscussionsQueries } from './discussions/discussions.queries';
import { DiscussionsService } from './discussions/discussions.service';
import { NoteLimit } from './note-limit';
import { NoteSubjects } from './note-subjects';
import { Note, NoteCreation } from './note.entity';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';
import { attachedNoteCreations, attachedNotePositions, attachedNotes } from './note-removal';
import { CodeReviews } from './positions/code-reviews';
import { NotePosition, Suggestion, SuggestionIntent } from './positions/note-position.entity';

/** Comments, threads and system notes on noteables of every kind. */
@Owns(Note, NoteCreation, NotePosition, Suggestion, SuggestionIntent)
@Attaches(attachedNoteCreations, attachedNotePositions, attachedNotes)
@Module({
  imports: [MentionsModule],
  providers: [
    CodeReviews,
    NewNotesService,
    DiscussionsQueries,
    DiscussionsService,
    NoteLimit,
    NoteSubjects,
    NotesQueries,
    NotesService,
  ],
  exports: [
    CodeReviews,
    NewNotesService,
    DiscussionsQueries,
    DiscussionsService,
    NoteLimit,
    NoteSubjects,
    NotesQueries,
    NotesService,
  ],
})
export class NotesModule {}
