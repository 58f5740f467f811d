import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import {
  ContextKeys,
  InternalKeys,
  LOGGER,
  Metrics,
  Outages,
  PlatformModule,
  platformSettings,
} from '@rookery/platform';
import type { Logger, SettingsOf, SettingsValues } from '@rookery/platform';
import { AboutController } from './about/about.controller';
import { HealthController } from './about/health.controller';
import { ServiceReadiness } from './about/service-readiness';
import { Authenticator } from './auth/authenticator';
import { DirectoryFloor } from './auth/directory-floor';
import { DirectoryWatch } from './auth/directory-watch';
import { IdentityClient } from './auth/identity-client';
import { Sudo } from './auth/sudo';
import { TokenLeases } from './auth/token-leases';
import { Edge } from './edge/edge';
import { Entrance } from './edge/entrance';
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

type Platform = SettingsOf<typeof platformSettings>;
type Token = symbol | (abstract new (...args: never[]) => unknown);
const own = gatewaySettings.token;

/** `what`, made of what stands in `from`: the parts know nothing of Nest. */
function made<T>(what: abstract new (...args: never[]) => T, from: Token[], make: (...parts: never[]) => T): Provider {
  return { provide: what, inject: from, useFactory: make as (...parts: unknown[]) => T };
}

const auth = [
  made(DirectoryFloor, [], () => new DirectoryFloor()),
  made(TokenLeases, [own], (settings: Own) => new TokenLeases(settings.authLeasesCount)),
  made(
    IdentityClient,
    [platformSettings.token, InternalKeys],
    (platform: Platform, keys: InternalKeys) =>
      new IdentityClient(platform.identityUrl, keys.authorization('gateway', 'identity')),
  ),
  made(
    DirectoryWatch,
    [IdentityClient, DirectoryFloor, TokenLeases, LOGGER],
    (identity: IdentityClient, floor: DirectoryFloor, leases: TokenLeases, logger: Logger) =>
      new DirectoryWatch(identity, floor, leases, logger),
  ),
  made(
    Authenticator,
    [IdentityClient, DirectoryFloor, TokenLeases, FailedLogins, own, Tally],
    (
      identity: IdentityClient,
      floor: DirectoryFloor,
      leases: TokenLeases,
      failures: FailedLogins,
      settings: Own,
      tally: Tally,
    ) => new Authenticator({ identity, floor, leases }, failures, settings, tally),
  ),
  made(Sudo, [IdentityClient], (identity: IdentityClient) => new Sudo(identity)),
];

const limits = [
  made(Tally, [Metrics, Outages], (metrics: Metrics, outages: Outages) => new Tally(metrics, outages)),
  made(FailedLogins, [own, Tally], (settings: Own, tally: Tally) => new FailedLogins(settings, tally)),
  made(RateLimits, [own, Tally], (settings: Own, tally: Tally) => new RateLimits(settings, tally)),
  made(LoadShedding, [own, Tally], (settings: Own, tally: Tally) => new LoadShedding(settings, tally)),
];

const way = [
  made(RouteTable, [], () => new RouteTable(committedRoutes())),
  made(Upstreams, [own], (settings: Own) => new Upstreams(settings, settings.upstreamConnections)),
  made(
    Forwarder,
    [Upstreams, DirectoryFloor, ContextKeys, own, Tally],
    (upstreams: Upstreams, floor: DirectoryFloor, keys: ContextKeys, settings: Own, tally: Tally) =>
      new Forwarder(upstreams, floor, keys, settings, tally),
  ),
  made(
    Entrance,
    [Authenticator, Sudo, RateLimits, LoadShedding, LOGGER],
    (authenticator: Authenticator, sudo: Sudo, rates: RateLimits, shedding: LoadShedding, logger: Logger) =>
      new Entrance(authenticator, sudo, rates, shedding, logger),
  ),
  made(
    Edge,
    [RouteTable, Entrance, Forwarder, own, Tally],
    (routes: RouteTable, entrance: Entrance, forwarder: Forwarder, settings: Own, tally: Tally) =>
      new Edge(routes, entrance, forwarder, settings, tally),
  ),
  made(ServiceReadiness, [own], (settings: Own) => new ServiceReadiness(managementUrls(settings))),
];

/** The parts of the gateway and how they are put together. */
@Module({ controllers: [AboutController, HealthController], providers: [...auth, ...limits, ...way] })
export class GatewayModule {
  static forRoot(values: SettingsValues): DynamicModule {
    return { module: GatewayModule, imports: [PlatformModule.forRoot({ service: 'gateway', values })] };
  }
}
