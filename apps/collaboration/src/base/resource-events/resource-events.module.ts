import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { ResourceStateEvent, ResourceWeightEvent } from './resource-event.entity';
import { ResourceEventsConsumer } from './resource-events.consumer';
import { ResourceEventsQueries } from './resource-events.queries';

/** What things went through, as rows and not as notes: how all sorts are read, and the changes of states and weights. */
@Owns(ResourceStateEvent, ResourceWeightEvent)
@Module({
  controllers: [ResourceEventsConsumer],
  providers: [ResourceEventsQueries],
  exports: [ResourceEventsQueries],
})
export class ResourceEventsModule {}
