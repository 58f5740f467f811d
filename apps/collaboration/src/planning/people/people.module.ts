import { Module } from '@nestjs/common';
import { People } from './people';

/** Assignees and reviewers of noteables of every kind. */
@Module({ providers: [People], exports: [People] })
export class PeopleModule {}
