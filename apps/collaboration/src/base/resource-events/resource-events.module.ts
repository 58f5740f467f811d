import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ResourceStateEvent, ResourceWeightEvent } from './resource-event.entity';
import { ResourceEventsQueries } from './resource-events.queries';
import { attachedStateEvents, attachedWeightEvents } from './resource-event-removal';

/** What things went through, as rows and not as notes: how all sorts are read, and the changes of states and weights. */
@Owns(ResourceStateEvent, ResourceWeightEvent)
@Attaches(attachedStateEvents, attachedWeightEvents)
@Module({
  providers: [ResourceEventsQueries],
  exports: [ResourceEventsQueries],
})
export class ResourceEventsModule {}
