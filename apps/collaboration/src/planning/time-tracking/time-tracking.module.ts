import { Module } from '@nestjs/common';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { TimeActions } from './time-actions';
import { TimeTrackingService } from './time-tracking.service';

/** How long things of every kind are going to take, and how long people worked on them. */
@Module({
  imports: [MentionsModule, NotesModule],
  providers: [TimeActions, TimeTrackingService],
  exports: [TimeTrackingService],
})
export class TimeTrackingModule {}
