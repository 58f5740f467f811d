import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { RemoteClient } from './remote/remote-client';

/** Clients of the upstream hosts that projects are imported from. */
@Module({ imports: [EgressModule], providers: [RemoteClient], exports: [RemoteClient] })
export class SourcesModule {}
