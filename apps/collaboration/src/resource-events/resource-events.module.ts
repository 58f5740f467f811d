import { Module } from '@nestjs/common';
import { ResourceEventsConsumer } from './resource-events.consumer';
import { ResourceEventsQueries } from './resource-events.queries';

/** What things went through, as rows and not as notes: how all sorts are read, and the changes of states and weights. */
@Module({
  controllers: [ResourceEventsConsumer],
  providers: [ResourceEventsQueries],
  exports: [ResourceEventsQueries],
})
export class ResourceEventsModule {}
