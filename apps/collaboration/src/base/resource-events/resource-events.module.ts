import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ResourceStateEvent, ResourceWeightEvent } from './resource-event.entity';
import { ResourceEventsQueries } from './resource-events.queries';
import { attachedStateEvents, attachedWeightEvents } from './resource-event-removal';

/** Resource events: changes of noteables that are rows instead of notes. Reads every type; owns state and weight events. */
@Owns(ResourceStateEvent, ResourceWeightEvent)
@Attaches(attachedStateEvents, attachedWeightEvents)
@Module({
  providers: [ResourceEventsQueries],
  exports: [ResourceEventsQueries],
})
export class ResourceEventsModule {}
