import { Module } from '@nestjs/common';
import { AssignedPeopleService } from './people';

/** Assignees and reviewers of noteables of every kind. */
@Module({ providers: [AssignedPeopleService], exports: [AssignedPeopleService] })
export class AssignedPeopleModule {}
