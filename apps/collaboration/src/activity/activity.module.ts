import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { ActivityConsumer } from './activity.consumer';
import { ActivityController } from './activity.controller';
import { ActivityQueries } from './activity.queries';
import { OldActivityJob } from './old-activity.job';
import { RecordActivity } from './record-activity';

/** What happened, as feeds of people and projects. */
@Module({
  imports: [NotesModule],
  controllers: [ActivityConsumer, ActivityController],
  providers: [ActivityQueries, OldActivityJob, RecordActivity],
})
export class ActivityModule {}
