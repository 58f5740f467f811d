import { Module } from '@nestjs/common';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { TimeQuickActions } from './time-quick-actions';
import { TimeTrackingService } from './time-tracking.service';

/** Time tracking of noteables: estimates and spent time. */
@Module({
  imports: [MentionsModule, NotesModule],
  providers: [TimeQuickActions, TimeTrackingService],
  exports: [TimeTrackingService],
})
export class TimeTrackingModule {}
