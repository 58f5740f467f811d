import type { ServiceName } from '@rookery/contracts';
import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

function defineDatabaseSettings(service: ServiceName) {
  return defineSettings('database', {
    url: setting.secret(`DATABASE_URL_${service.toUpperCase()}`, {
      about: `PostgreSQL database of the ${service} service, as postgres://user:password@host:port/name.`,
    }),
    serviceRole: setting.text('DATABASE_SERVICE_ROLE', {
      default: null,
      about:
        'Read by `migrate` only, whose address is that of the owner of the tables: the role of the running service, ' +
        'which gets rights to rows.',
    }),
    poolCount: setting.int('DATABASE_POOL_COUNT', {
      default: 10,
      min: 1,
      max: 200,
      about: 'Connections that one process keeps to its database for the requests of clients.',
    }),
    backgroundPoolCount: setting.int('DATABASE_BACKGROUND_POOL_COUNT', {
      default: 8,
      min: 2,
      max: 200,
      about: 'Further connections for work in the background: effects, e-mail, jobs, the copy of the directory.',
    }),
    internalPoolCount: setting.int('DATABASE_INTERNAL_POOL_COUNT', {
      default: 4,
      min: 1,
      max: 200,
      about: 'Further connections for requests of other processes, such as token checks.',
    }),
    poolWaitMs: setting.int('DATABASE_POOL_WAIT_MS', {
      default: 10_000,
      min: 10,
      about: 'Longest wait for a free connection of work without a deadline; a request waits until its own deadline.',
    }),
    statementTimeoutMs: setting.int('DATABASE_STATEMENT_TIMEOUT_MS', {
      default: 5000,
      min: 100,
      about: 'Longest run of one statement.',
    }),
    lockTimeoutMs: setting.int('DATABASE_LOCK_TIMEOUT_MS', {
      default: 5000,
      min: 10,
      about: 'Longest wait of a statement for a lock.',
    }),
    idleInTransactionTimeoutMs: setting.int('DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS', {
      default: 10_000,
      min: 100,
      about: 'After this long without a statement inside a transaction, the server ends the connection.',
    }),
  });
}

export type DatabaseSettingsDefinition = ReturnType<typeof defineDatabaseSettings>;
export type DatabaseSettings = SettingsOf<DatabaseSettingsDefinition>;

const definitions = new Map<ServiceName, DatabaseSettingsDefinition>();

/**
 * The database settings of one service. Repeated calls return the same definition, which is the injection token. The
 * URL is `DATABASE_URL_<SERVICE>`, other names are the same in every service. Source: reference reliability 5.
 */
export function databaseSettingsFor(service: ServiceName): DatabaseSettingsDefinition {
  const known = definitions.get(service);
  if (known) return known;
  const definition = defineDatabaseSettings(service);
  definitions.set(service, definition);
  return definition;
}
