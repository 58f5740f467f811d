import { Module } from '@nestjs/common';
import { droppedWithGroups } from '@rookery/directory';
import { Owns } from '@rookery/persistence';
import { LabelFactsQueries } from './label-facts.queries';
import { LabelPromotionService } from './label-promotion.service';
import { Label, LabelLink, LabelPriority, LabelSubscription } from './label.entity';
import { ResourceLabelEvent } from './labelling/label-event.entity';
import { LabelsConsumer } from './labels.consumer';
import { GroupLabelsController, LabelPromotionController, ProjectLabelsController } from './labels.controller';
import { labels, LabelsService } from './labels.service';

/** Words for things of projects and groups, and which thing has which. */
@Owns(Label, LabelLink, LabelPriority, LabelSubscription, ResourceLabelEvent)
@Module({
  controllers: [
    GroupLabelsController,
    LabelPromotionController,
    LabelsConsumer,
    ProjectLabelsController,
    droppedWithGroups(labels, 'drop-labels'),
  ],
  providers: [LabelFactsQueries, LabelPromotionService, LabelsService],
})
export class LabelsModule {}
