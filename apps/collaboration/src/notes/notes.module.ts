import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DiscussionsQueries } from './discussions/discussions.queries';
import { DiscussionsService } from './discussions/discussions.service';
import { NoteLimit } from './note-limit';
import { NoteSubjects } from './note-subjects';
import { Note, NoteCreation } from './note.entity';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';

/** Comments, their threads, and what the system records, on things of every kind. */
@Owns(Note, NoteCreation)
@Module({
  providers: [DiscussionsQueries, DiscussionsService, NoteLimit, NoteSubjects, NotesQueries, NotesService],
  exports: [DiscussionsQueries, DiscussionsService, NoteLimit, NoteSubjects, NotesQueries, NotesService],
})
export class NotesModule {}
