import { Module } from '@nestjs/common';
import { People } from './people';

/** Owners of imported objects. */
@Module({ providers: [People], exports: [People] })
export class UpstreamPeopleModule {}
