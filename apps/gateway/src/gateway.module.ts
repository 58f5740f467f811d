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
import { ConanClientTokens } from './auth/client-tokens';
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
import { readGeneratedRoutes } from './routes/committed';
import { RouteTable } from './routes/route-table';
import { Forwarder } from './upstream/forwarder';
import { Upstreams } from './upstream/upstreams';
import { WebSite } from './web/site';

type PlatformSettings = SettingsOf<typeof platformSettings>;
type InjectionToken = symbol | (abstract new (...args: never[]) => unknown);
const own = gatewaySettings.token;

/** Provides a class by a factory with the given dependencies: the classes themselves do not use Nest. */
function provideByFactory<T>(
  type: abstract new (...args: never[]) => T,
  inject: InjectionToken[],
  factory: (...parts: never[]) => T,
): Provider {
  return { provide: type, inject, useFactory: factory as (...parts: unknown[]) => T };
}

const auth = [
  provideByFactory(DirectoryFloor, [], () => new DirectoryFloor()),
  provideByFactory(TokenLeases, [own], (settings: Own) => new TokenLeases(settings.authLeasesCount)),
  provideByFactory(
    IdentityClient,
    [platformSettings.token, InternalKeys, Neighbours],
    (platform: PlatformSettings, keys: InternalKeys, neighbours: Neighbours) =>
      new IdentityClient(platform.identityUrl, keys.signAuthorization('gateway', 'identity'), neighbours),
  ),
  provideByFactory(
    DirectoryWatch,
    [IdentityClient, DirectoryFloor, TokenLeases, LOGGER],
    (identity: IdentityClient, floor: DirectoryFloor, leases: TokenLeases, logger: Logger) =>
      new DirectoryWatch(identity, floor, leases, logger),
  ),
  provideByFactory(
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
    ) => new Authenticator({ identity, floor, leases }, failures, settings, tally, new ConanClientTokens(keys)),
  ),
  provideByFactory(Sudo, [IdentityClient], (identity: IdentityClient) => new Sudo(identity)),
];

const limits = [
  provideByFactory(Tally, [Metrics, Outages], (metrics: Metrics, outages: Outages) => new Tally(metrics, outages)),
  provideByFactory(FailedLogins, [own, Tally], (settings: Own, tally: Tally) => new FailedLogins(settings, tally)),
  provideByFactory(RateLimits, [own, Tally], (settings: Own, tally: Tally) => new RateLimits(settings, tally)),
  provideByFactory(LoadShedding, [own, Tally], (settings: Own, tally: Tally) => new LoadShedding(settings, tally)),
];

const pipeline = [
  provideByFactory(RouteTable, [], () => new RouteTable(readGeneratedRoutes())),
  provideByFactory(
    Upstreams,
    [own, Neighbours],
    (settings: Own, neighbours: Neighbours) => new Upstreams(settings, settings.upstreamConnections, neighbours),
  ),
  provideByFactory(
    Forwarder,
    [Upstreams, DirectoryFloor, ContextSigningKeys, own, Tally],
    (upstreams: Upstreams, floor: DirectoryFloor, keys: ContextSigningKeys, settings: Own, tally: Tally) =>
      new Forwarder(upstreams, floor, keys, settings, tally),
  ),
  provideByFactory(
    Admission,
    [Authenticator, Sudo, RateLimits, LoadShedding, LOGGER],
    (authenticator: Authenticator, sudo: Sudo, rates: RateLimits, shedding: LoadShedding, logger: Logger) =>
      new Admission(authenticator, sudo, rates, shedding, logger),
  ),
  provideByFactory(
    Edge,
    [RouteTable, Admission, Forwarder, own, Tally, LOGGER],
    (routes: RouteTable, admission: Admission, forwarder: Forwarder, settings: Own, tally: Tally, logger: Logger) =>
      new Edge(routes, admission, forwarder, settings, tally, settings.accessLog ? new AccessLog(logger) : null),
  ),
  provideByFactory(
    WebSite,
    [Edge, platformSettings.token, own, Tally, IdentityClient],
    (edge: Edge, platform: PlatformSettings, settings: Own, tally: Tally, identity: IdentityClient) => {
      const arrival = { expectsContinue: false, isSurplus: false };
      const site = new WebSite(
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
  provideByFactory(ServiceReadiness, [own], (settings: Own) => new ServiceReadiness(managementUrls(settings))),
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
