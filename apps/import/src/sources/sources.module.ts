import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { RemoteClient } from './remote/remote-client';
import { RemoteGistsClient } from './remote/remote-gists-client';
import { RepohostClient } from './repohost/repohost-client';
import { RepohostServerClient } from './repohost-server/repohost-server-client';
import { UpstreamHosts } from './upstream-hosts';
import { UpstreamRequests } from './upstream-requests';

/** Clients of the upstream hosts that projects are imported from. */
@Module({
  imports: [EgressModule],
  providers: [RemoteClient, RemoteGistsClient, RepohostClient, RepohostServerClient, UpstreamHosts, UpstreamRequests],
  exports: [RemoteClient, RemoteGistsClient, RepohostClient, RepohostServerClient, UpstreamHosts, UpstreamRequests],
})
export class UpstreamClientsModule {}
