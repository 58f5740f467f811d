import { Module } from '@nestjs/common';
import { ImportPeopleClient } from './people';

/** Owners of imported objects. */
@Module({ providers: [ImportPeopleClient], exports: [ImportPeopleClient] })
export class UpstreamPeopleModule {}
