import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AvatarsModule } from '../avatars/avatars.module';
import { ProjectTopicsService } from './project-topics.service';
import { TopicMergeService } from './topic-merge.service';
import { ProjectTopic, Topic } from './topic.entity';
import { TopicsController } from './topics.controller';
import { TopicsService } from './topics.service';

/** Topics of projects, which administrators maintain. */
@Owns(ProjectTopic, Topic)
@Module({
  imports: [AvatarsModule],
  controllers: [TopicsController],
  providers: [ProjectTopicsService, TopicMergeService, TopicsService],
  exports: [ProjectTopicsService],
})
export class TopicsModule {}
