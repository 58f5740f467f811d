import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { NotesModule } from '../../talk/notes/notes.module';
import { ActivityEvent } from './activity-event.entity';
import { ActivityConsumer } from './activity.consumer';
import { ActivityController } from './activity.controller';
import { ActivityQueries } from './activity.queries';
import { OldActivityJob } from './old-activity.job';
import { attachedActivity, ActivityRecorder } from './activity-recorder';

/** Feeds of activity by user and by project. */
@Owns(ActivityEvent)
@Attaches(attachedActivity)
@Module({
  imports: [NotesModule],
  controllers: [ActivityConsumer, ActivityController],
  providers: [ActivityQueries, OldActivityJob, ActivityRecorder],
})
export class ActivityModule {}
