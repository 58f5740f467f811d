import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../mentions/mentions.module';
import { CommandedNotesService } from './commanded-notes.service';
import { DiscussionsQueries } from './discussions/discussions.queries';
import { DiscussionsService } from './discussions/discussions.service';
import { NoteLimit } from './note-limit';
import { NoteSubjects } from './note-subjects';
import { Note, NoteCreation } from './note.entity';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';
import { attachedNoteCreations, attachedNotes } from './note-removal';

/** Comments, their threads, and what the system records, on things of every kind. */
@Owns(Note, NoteCreation)
@Attaches(attachedNoteCreations, attachedNotes)
@Module({
  imports: [MentionsModule],
  providers: [
    CommandedNotesService,
    DiscussionsQueries,
    DiscussionsService,
    NoteLimit,
    NoteSubjects,
    NotesQueries,
    NotesService,
  ],
  exports: [
    CommandedNotesService,
    DiscussionsQueries,
    DiscussionsService,
    NoteLimit,
    NoteSubjects,
    NotesQueries,
    NotesService,
  ],
})
export class NotesModule {}
