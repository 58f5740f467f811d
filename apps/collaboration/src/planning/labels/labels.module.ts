import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { LabelFactsQueries } from './label-facts.queries';
import { LabelPromotionService } from './label-promotion.service';
import { Label, LabelLink, LabelPriority, LabelSubscription } from './label.entity';
import { ResourceLabelEvent } from './labelling/label-event.entity';
import { LabelsConsumer } from './labels.consumer';
import { GroupLabelsController, LabelPromotionController, ProjectLabelsController } from './labels.controller';
import { LabelsService } from './labels.service';
import {
  attachedLabelEvents,
  attachedLabelLinks,
  attachedLabelPriorities,
  attachedLabels,
  attachedLabelSubscriptions,
} from './label-removal';

/** Labels of projects and groups, and their use on noteables. */
@Owns(Label, LabelLink, LabelPriority, LabelSubscription, ResourceLabelEvent)
@Attaches(attachedLabelLinks, attachedLabelPriorities, attachedLabelEvents, attachedLabelSubscriptions, attachedLabels)
@Module({
  controllers: [GroupLabelsController, LabelPromotionController, LabelsConsumer, ProjectLabelsController],
  providers: [LabelFactsQueries, LabelPromotionService, LabelsService],
})
export class LabelsModule {}
