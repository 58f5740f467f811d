import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DepartureSteps } from './departure-steps';
import { Departures } from './departures';
import { DeparturesConsumer } from './departures.consumer';
import { DeparturesJob } from './departures.job';
import { DropWritings } from './drop-writings';
import { ProjectDeletionConsumer } from './project-deletion.consumer';
import { UserDeparture } from './user-departure.entity';

/** What goes with a person and with a project. */
@Owns(UserDeparture)
@Module({
  controllers: [DeparturesConsumer, ProjectDeletionConsumer],
  providers: [DepartureSteps, Departures, DeparturesJob, DropWritings],
})
export class RemovalModule {}
