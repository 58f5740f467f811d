import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DepartureSteps } from './departure-steps';
import { Departures } from './departures';
import { DeparturesConsumer } from './departures.consumer';
import { DeparturesJob } from './departures.job';
import { DropWritings } from './drop-writings';
import { GroupDeletionConsumer } from './group-deletion.consumer';
import { ProjectDeletionConsumer } from './project-deletion.consumer';
import { UserDeparture } from './user-departure.entity';

/** What goes with a person, with a project and with a group. */
@Owns(UserDeparture)
@Module({
  controllers: [DeparturesConsumer, GroupDeletionConsumer, ProjectDeletionConsumer],
  providers: [DepartureSteps, Departures, DeparturesJob, DropWritings],
})
export class RemovalModule {}
