import { Module } from '@nestjs/common';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { TimeActions } from './time-actions';
import { TimeTrackingService } from './time-tracking.service';

/** Time tracking of noteables: estimates and spent time. */
@Module({
  imports: [MentionsModule, NotesModule],
  providers: [TimeActions, TimeTrackingService],
  exports: [TimeTrackingService],
})
export class TimeTrackingModule {}
