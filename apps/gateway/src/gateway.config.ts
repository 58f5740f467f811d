import { SERVICE_NAMES } from '@rookery/contracts';
import type { ServiceName } from '@rookery/contracts';
import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

const PROTOCOLS = ['http', 'https'];
const KIB = 1024;
const MANAGEMENT_PORT = '9090';

/**
 * Settings of the gateway.
 * Source: reference reliability 6, 6.3; reference identity-and-import 4.1; reference packages-and-admin 10.2;
 * docs/architecture.md 2; ADR 0050, 0051.
 */
export const gatewaySettings = defineSettings('gateway', {
  identity: upstreamUrlSetting('IDENTITY'),
  collaboration: upstreamUrlSetting('COLLABORATION'),
  import: upstreamUrlSetting('IMPORT'),
  package: upstreamUrlSetting('PACKAGE'),
  admin: upstreamUrlSetting('ADMIN'),
  identityManagement: managementUrlSetting('IDENTITY'),
  collaborationManagement: managementUrlSetting('COLLABORATION'),
  importManagement: managementUrlSetting('IMPORT'),
  packageManagement: managementUrlSetting('PACKAGE'),
  adminManagement: managementUrlSetting('ADMIN'),
  upstreamConnections: setting.int('GATEWAY_UPSTREAM_CONNECTIONS_COUNT', {
    default: 256,
    min: 1,
    max: 1024,
    about: 'Connections to each service at most; one caller has 16 of them at once.',
  }),
  authLeaseMs: setting.int('GATEWAY_AUTH_LEASE_MS', {
    default: 1000,
    min: 0,
    max: 1000,
    about: 'How long the answer of a token check may be used again; 0 asks for every request.',
  }),
  authLeasesCount: setting.int('GATEWAY_AUTH_LEASES_COUNT', {
    default: 20_000,
    min: 1,
    max: 1_000_000,
    about: 'Token checks remembered at most.',
  }),
  anonymousFreshMs: setting.int('GATEWAY_ANONYMOUS_FRESH_MS', {
    default: 60_000,
    min: 0,
    max: 600_000,
    about: 'How long anonymous requests are served on the last known directory version while identity is away.',
  }),
  deadlineMs: setting.int('GATEWAY_DEADLINE_MS', {
    default: 10_000,
    min: 100,
    max: 600_000,
    about: 'How long a request may wait for the beginning of its answer, its token check included.',
  }),
  bodyLimitBytes: setting.int('GATEWAY_BODY_LIMIT_BYTES', {
    default: KIB * KIB,
    min: KIB,
    about: 'Largest request body of routes that do not state their own.',
  }),
  slowPeerMs: setting.int('GATEWAY_SLOW_PEER_MS', {
    default: 10_000,
    min: 100,
    max: 600_000,
    about: 'Time for a client to send its headers, and time before the least rate of bodies and downloads counts.',
  }),
  socketsPerAddress: setting.int('GATEWAY_SOCKETS_PER_ADDRESS_COUNT', {
    default: 200,
    min: 0,
    about:
      'Connections of one client address; 0 for no limit, which `npm start` on loopback sets. As many again are answered 429, further ones cut. Not applied behind trusted proxies.',
  }),
  trustedProxies: setting.int('GATEWAY_TRUSTED_PROXIES_COUNT', {
    default: 0,
    min: 0,
    max: 10,
    about: 'Proxies in front of the gateway whose X-Forwarded-For entry is believed.',
  }),
  replicas: setting.int('GATEWAY_REPLICAS_COUNT', {
    default: 1,
    min: 1,
    about: 'Gateways that share the rate limits; each allows its part.',
  }),
  inFlight: setting.int('GATEWAY_IN_FLIGHT_COUNT', {
    default: 400,
    min: 1,
    about:
      'Requests in flight beyond which everything but health and removals is shed. The limit falls from here while answers are late, and rises again; up to 64 in flight nothing is shed for load.',
  }),
  heapPercent: setting.int('GATEWAY_HEAP_PERCENT', {
    default: 85,
    min: 1,
    max: 100,
    about: 'Part of the heap limit beyond which requests are shed.',
  }),
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether callers are limited in their rate.' }),
  ratePerUser: setting.int('GATEWAY_RATE_USER_PER_MINUTE_COUNT', {
    default: 18_000,
    min: 1,
    about: 'Requests a minute of one user.',
  }),
  ratePerAddress: setting.int('GATEWAY_RATE_ADDRESS_PER_MINUTE_COUNT', {
    default: 3000,
    min: 1,
    about: 'Requests a minute of one address without a credential.',
  }),
  ratePackages: setting.int('GATEWAY_RATE_PACKAGES_PER_MINUTE_COUNT', {
    default: 18_000,
    min: 1,
    about: 'Requests a minute of one user to package registries and repositories.',
  }),
  rateFailedAuth: setting.int('GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT', {
    default: 120,
    min: 1,
    about:
      'Unknown credentials a minute from one address before further unknown ones are answered 429, and new ones are checked two at a time.',
  }),
  accessLog: setting.flag('GATEWAY_ACCESS_LOG', {
    default: false,
    about: 'Whether each request is logged as one JSON line, without its query, headers and body.',
  }),
  sessionSecret: setting.secret('GATEWAY_SESSION_SECRET', {
    default: null,
    check: (text) => (text.length < 32 ? 'is shorter than 32 characters' : null),
    about:
      'Seals the sign-in cookies of the web pages, at least 32 characters, the same for all gateways. Without it, people sign in again after a restart.',
  }),
  revision: setting.text('GATEWAY_REVISION', {
    default: 'development',
    about: 'Revision that the version endpoint names.',
  }),
});
export type GatewaySettings = SettingsOf<typeof gatewaySettings>;

function upstreamUrlSetting(service: string) {
  return setting.url(`GATEWAY_UPSTREAM_${service}`, {
    default: `http://${service.toLowerCase()}:8080`,
    protocols: PROTOCOLS,
    about: `Where requests of the ${service.toLowerCase()} service go.`,
  });
}

function managementUrlSetting(service: string) {
  return setting.url(`GATEWAY_MANAGEMENT_${service}`, {
    default: null,
    protocols: PROTOCOLS,
    about: `Where the ${service.toLowerCase()} service answers for its readiness; by default port 9090 of its host.`,
  });
}

/** Management URLs of the services, for readiness checks. */
export function managementUrls(settings: GatewaySettings): Readonly<Record<ServiceName, string>> {
  const url = (service: ServiceName): string => {
    const given = settings[`${service}Management`];
    if (given !== null) return given;
    const derived = new URL(settings[service]);
    derived.protocol = 'http';
    derived.port = MANAGEMENT_PORT;
    return derived.origin;
  };
  return Object.fromEntries(SERVICE_NAMES.map((service) => [service, url(service)])) as Record<ServiceName, string>;
}
