import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { TimeTrackingService } from './time-tracking.service';

/** How long things of every kind are going to take, and how long people worked on them. */
@Module({
  imports: [NotesModule],
  providers: [TimeTrackingService],
  exports: [TimeTrackingService],
})
export class TimeTrackingModule {}
