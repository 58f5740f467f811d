import { hostname } from 'node:os';
import { LOG_LEVELS } from '../observability/logger';
import { setting } from '../settings/setting';
import { defineSettings } from '../settings/settings';
import { parseInternalKeys } from '../signing/internal-keys';
import { parseContextKeys } from '../signing/signed-context';

/** Settings of every process. */
export const platformSettings = defineSettings('platform', {
  logLevel: setting.choice('LOG_LEVEL', LOG_LEVELS, {
    default: 'info',
    about: 'Least severe log line that is written.',
  }),
  port: setting.int('PORT', { default: 8080, min: 0, max: 65535, about: 'Port on which this process serves its API.' }),
  host: setting.text('HOST', { default: '0.0.0.0', about: 'Address on which this process listens.' }),
  managementHost: setting.text('MANAGEMENT_HOST', {
    default: '0.0.0.0',
    about: 'Address on which health and metrics are served.',
  }),
  managementPort: setting.int('MANAGEMENT_PORT', {
    default: 9090,
    min: 0,
    max: 65535,
    about: 'Port of health and metrics; must not be reachable from outside.',
  }),
  externalUrl: setting.url('ROOKERY_EXTERNAL_URL', {
    default: 'http://localhost:8080',
    protocols: ['http', 'https'],
    about: 'Address at which clients reach the gateway; every link in an answer begins with it.',
  }),
  internalKeys: setting.secret('ROOKERY_INTERNAL_KEYS', {
    about:
      'Keys of the calls between processes, comma-separated: kid/caller/callee:base64 of 32 bytes. A process has only those that it presents or checks, and refuses to start with others; of several keys for the same pair the first is presented and all are accepted.',
    check: (text) => problemIfUnusable(() => parseInternalKeys(text)),
  }),
  contextKeys: setting.secret('ROOKERY_CONTEXT_KEYS', {
    about:
      'Keys of the signed request context, comma-separated, the first of which signs: kid/service:base64 of 32 bytes. A service has only its own, and refuses to start with others; the gateway has those of all services, or a master kid:base64 from which they are derived.',
    check: (text) => problemIfUnusable(() => parseContextKeys(text)),
  }),
  identityUrl: setting.url('IDENTITY_URL', {
    default: 'http://identity:8080',
    protocols: ['http', 'https'],
    about: 'Internal address of the identity service.',
  }),
  collaborationUrl: setting.url('COLLABORATION_URL', {
    default: 'http://collaboration:8080',
    protocols: ['http', 'https'],
    about:
      'Internal address of the collaboration service, which provides facts about repositories for badges and pipelines.',
  }),
  packageUrl: setting.url('PACKAGE_URL', {
    default: 'http://package:8080',
    protocols: ['http', 'https'],
    about:
      'Internal address of the package service, which identity asks whether the job of a token runs, and which stores attachments of imports.',
  }),
  importUrl: setting.url('IMPORT_URL', {
    default: 'http://import:8080',
    protocols: ['http', 'https'],
    about: 'Internal address of the import service, which identity asks to import a repository by its URL.',
  }),
  directoryWaitMs: setting.int('DIRECTORY_WAIT_MS', {
    default: 150,
    min: 0,
    max: 60_000,
    about:
      'How long a request waits for a copy of the directory that is behind before identity is asked too; it then waits until its deadline.',
  }),
  requestRightsMs: setting.int('REQUEST_RIGHTS_MS', {
    default: 1000,
    min: 0,
    max: 60_000,
    about:
      'How long a service trusts the gateway’s check of the caller; after a longer wait, a request asks identity again before it reads or commits.',
  }),
  strictParameters: setting.flag('ROOKERY_STRICT_PARAMETERS', {
    default: false,
    about:
      'Whether a request with unknown parameters is refused with 400, for test suites of clients; otherwise they are named in `X-Rookery-Ignored`.',
  }),
  adminUrl: setting.url('ADMIN_URL', {
    default: 'http://admin:8080',
    protocols: ['http', 'https'],
    orNone: true,
    about:
      'Internal address of the admin service; `none` if there is no admin service; then the environment has the settings.',
  }),
  shutdownDelayMs: setting.int('SHUTDOWN_DELAY_MS', {
    default: 5000,
    min: 0,
    max: 60_000,
    about:
      'Time between failing readiness and refusing connections, for load balancers to notice and clients to close idle connections, which takes up to 4 s; 0 without a load balancer.',
  }),
  shutdownGraceMs: setting.int('SHUTDOWN_GRACE_MS', {
    default: 30_000,
    min: 100,
    max: 600_000,
    about: 'Hard limit of a shutdown after the delay; the process then exits with code 1.',
  }),
  otlpEndpoint: setting.url('OTEL_EXPORTER_OTLP_ENDPOINT', {
    default: null,
    about: 'Address for traces by OTLP; without it OpenTelemetry is not loaded.',
  }),
  instanceId: setting.text('ROOKERY_INSTANCE_ID', {
    computed: { about: 'host name and process id', value: () => `${hostname()}-${process.pid}` },
    about: 'Name of this replica in log lines and locks.',
  }),
});

function problemIfUnusable(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return `is unusable: ${(error as Error).message}`;
  }
}
