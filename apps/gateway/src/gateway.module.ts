import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import {
  ContextSigningKeys,
  InternalKeys,
  LOGGER,
  Metrics,
  Neighbours,
  Outages,
  PlatformModule,
  platformSettings,
} from '@rookery/platform';
import type { Logger, SettingsOf, SettingsValues } from '@rookery/platform';
import { AboutController } from './about/about.controller';
import { DocsController } from './about/docs.controller';
import { HealthController } from './about/health.controller';
import { ServiceReadiness } from './about/service-readiness';
import { Authenticator } from './auth/authenticator';
import { ClientTokens } from './auth/client-tokens';
import { DirectoryFloor } from './auth/directory-floor';
import { DirectoryWatch } from './auth/directory-watch';
import { IdentityClient } from './auth/identity-client';
import { Sudo } from './auth/sudo';
import { TokenLeases } from './auth/token-leases';
import { AccessLog } from './edge/access-log';
import { Edge } from './edge/edge';
import { Admission } from './edge/admission';
import { gatewaySettings, managementUrls } from './gateway.config';
import type { GatewaySettings as Own } from './gateway.config';
import { FailedLogins } from './auth/failed-logins';
import { LoadShedding } from './limits/load-shedding';
import { RateLimits } from './limits/rate-limits';
import { Tally } from './metrics/tally';
import { committedRoutes } from './routes/committed';
import { RouteTable } from './routes/route-table';
import { Forwarder } from './upstream/forwarder';
import { Upstreams } from './upstream/upstreams';
import { Site } from './web/site';

type Platform = SettingsOf<typeof platformSettings>;
type Token = symbol | (abstract new (...args: never[]) => unknown);
const own = gatewaySettings.token;

/** Provides a class by a factory with the given dependencies: the classes themselves do not use Nest. */
function provide<T>(
  type: abstract new (...args: never[]) => T,
  inject: Token[],
  make: (...parts: never[]) => T,
): Provider {
  return { provide: type, inject, useFactory: make as (...parts: unknown[]) => T };
}

const auth = [
  provide(DirectoryFloor, [], () => new DirectoryFloor()),
  provide(TokenLeases, [own], (settings: Own) => new TokenLeases(settings.authLeasesCount)),
  provide(
    IdentityClient,
    [platformSettings.token, InternalKeys, Neighbours],
    (platform: Platform, keys: InternalKeys, neighbours: Neighbours) =>
      new IdentityClient(platform.identityUrl, keys.signAuthorization('gateway', 'identity'), neighbours),
  ),
  provide(
    DirectoryWatch,
    [IdentityClient, DirectoryFloor, TokenLeases, LOGGER],
    (identity: IdentityClient, floor: DirectoryFloor, leases: TokenLeases, logger: Logger) =>
      new DirectoryWatch(identity, floor, leases, logger),
  ),
  provide(
    Authenticator,
    [IdentityClient, DirectoryFloor, TokenLeases, FailedLogins, own, Tally, ContextSigningKeys],
    (
      identity: IdentityClient,
      floor: DirectoryFloor,
      leases: TokenLeases,
      failures: FailedLogins,
      settings: Own,
      tally: Tally,
      keys: ContextSigningKeys,
    ) => new Authenticator({ identity, floor, leases }, failures, settings, tally, new ClientTokens(keys)),
  ),
  provide(Sudo, [IdentityClient], (identity: IdentityClient) => new Sudo(identity)),
];

const limits = [
  provide(Tally, [Metrics, Outages], (metrics: Metrics, outages: Outages) => new Tally(metrics, outages)),
  provide(FailedLogins, [own, Tally], (settings: Own, tally: Tally) => new FailedLogins(settings, tally)),
  provide(RateLimits, [own, Tally], (settings: Own, tally: Tally) => new RateLimits(settings, tally)),
  provide(LoadShedding, [own, Tally], (settings: Own, tally: Tally) => new LoadShedding(settings, tally)),
];

const pipeline = [
  provide(RouteTable, [], () => new RouteTable(committedRoutes())),
  provide(
    Upstreams,
    [own, Neighbours],
    (settings: Own, neighbours: Neighbours) => new Upstreams(settings, settings.upstreamConnections, neighbours),
  ),
  provide(
    Forwarder,
    [Upstreams, DirectoryFloor, ContextSigningKeys, own, Tally],
    (upstreams: Upstreams, floor: DirectoryFloor, keys: ContextSigningKeys, settings: Own, tally: Tally) =>
      new Forwarder(upstreams, floor, keys, settings, tally),
  ),
  provide(
    Admission,
    [Authenticator, Sudo, RateLimits, LoadShedding, LOGGER],
    (authenticator: Authenticator, sudo: Sudo, rates: RateLimits, shedding: LoadShedding, logger: Logger) =>
      new Admission(authenticator, sudo, rates, shedding, logger),
  ),
  provide(
    Edge,
    [RouteTable, Admission, Forwarder, own, Tally, LOGGER],
    (routes: RouteTable, admission: Admission, forwarder: Forwarder, settings: Own, tally: Tally, logger: Logger) =>
      new Edge(routes, admission, forwarder, settings, tally, settings.accessLog ? new AccessLog(logger) : null),
  ),
  provide(
    Site,
    [Edge, platformSettings.token, own, Tally, IdentityClient],
    (edge: Edge, platform: Platform, settings: Own, tally: Tally, identity: IdentityClient) => {
      const arrival = { expectsContinue: false, isSurplus: false };
      const site = new Site(
        // Pages read routes of services only, so the gateway's own routes are not needed.
        (request, response) => edge.handle(request, response, arrival, (_, own) => void own.destroy()),
        platform.externalUrl,
        settings,
        tally,
        identity,
      );
      edge.open(site);
      return site;
    },
  ),
  provide(ServiceReadiness, [own], (settings: Own) => new ServiceReadiness(managementUrls(settings))),
];

/** The module of the gateway: its classes and their dependencies. */
@Module({
  controllers: [AboutController, DocsController, HealthController],
  providers: [...auth, ...limits, ...pipeline],
})
export class GatewayModule {
  static forRoot(values: SettingsValues): DynamicModule {
    return { module: GatewayModule, imports: [PlatformModule.forRoot({ service: 'gateway', values })] };
  }
}
