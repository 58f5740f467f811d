import type { DynamicModule, Provider } from '@nestjs/common';
import type { ServiceName } from '@rookery/contracts';
import { CLOCK, systemClock } from '@rookery/kernel';
import { InternalRoutes } from './calling/internal-routes';
import { Neighbours } from './neighbours/neighbours';
import { Links } from './boot/links';
import { parseInternalKeys, InternalKeys } from './signing/internal-keys';
import { createLogger, LOGGER } from './observability/logger';
import type { Logger } from './observability/logger';
import { Metrics } from './observability/metrics';
import { Outages } from './observability/outages';
import { platformSettings } from './boot/platform.settings';
import { Readiness } from './boot/readiness';
import { pickSettings } from './settings/settings';
import type { SettingsValues } from './settings/settings';
import { ShutdownOrder } from './boot/shutdown';
import { parseContextKeys, ContextSigningKeys } from './signing/signed-context';

/** Injection token of the name of the process: `identity`, `gateway` … */
export const SERVICE_NAME: unique symbol = Symbol('ServiceName');

/**
 * Injection token: whether this process serves, as API or worker. A command does not, and starts no background work.
 */
export const IS_SERVING: unique symbol = Symbol('IsServing');

/**
 * Providers that every module may inject: each settings object by `definition.token`, `CLOCK`, `LOGGER`,
 * `SERVICE_NAME`, `IS_SERVING`, `Metrics`, `Outages`, `Links`, `Readiness`, `ShutdownOrder`, `ContextSigningKeys`,
 * `InternalKeys`, `Neighbours`, `InternalRoutes`. Global. It has no decorator, so that importing this library does not load Nest.
 */
export class PlatformModule {
  /**
   * `values` is the result of `readSettings`. Further entries from `boot` or a test are used instead of new objects.
   */
  static forRoot(o: { readonly service: string; readonly values: SettingsValues }): DynamicModule {
    const settings = pickSettings(o.values, platformSettings);
    const made: SettingsValues = new Map(o.values);
    const provide = (token: Parameters<SettingsValues['get']>[0], make: () => unknown): void => {
      if (!made.has(token)) made.set(token, make());
    };
    provide(SERVICE_NAME, () => o.service);
    provide(IS_SERVING, () => true);
    provide(CLOCK, () => systemClock);
    provide(LOGGER, () =>
      createLogger({ service: o.service, instance: settings.instanceId, level: settings.logLevel }),
    );
    provide(Metrics, () => new Metrics());
    provide(Outages, () => new Outages(made.get(Metrics) as Metrics, made.get(LOGGER) as Logger));
    provide(Links, () => new Links(settings.externalUrl));
    provide(Readiness, () => new Readiness());
    provide(ShutdownOrder, () => new ShutdownOrder(made.get(LOGGER) as ReturnType<typeof createLogger>));
    provide(ContextSigningKeys, () => parseContextKeys(settings.contextKeys));
    provide(InternalKeys, () => parseInternalKeys(settings.internalKeys));
    provide(Neighbours, () => new Neighbours(false));
    provide(InternalRoutes, () => {
      const [keys, neighbours] = [made.get(InternalKeys) as InternalKeys, made.get(Neighbours) as Neighbours];
      return new InternalRoutes(o.service as ServiceName, settings, keys, neighbours);
    });
    const providers = [...made].map(([token, value]): Provider => ({ provide: token, useValue: value }));
    return { module: PlatformModule, global: true, providers, exports: [...made.keys()] };
  }
}
