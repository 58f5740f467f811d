import type { ServiceName } from '@rookery/contracts';
import type { platformSettings } from '../boot/platform.settings';
import type { SettingsOf } from '../settings/settings';
import type { InternalKeys } from '../signing/internal-keys';
import { InternalRouteClient } from './internal-route';
import type { InternalRouteOptions } from './internal-route';
import type { Neighbours } from '../neighbours/neighbours';

/** A service that others ask by internal routes. */
export type InternalCallee = Extract<ServiceName, 'identity' | 'collaboration' | 'package' | 'import'>;

/** Opens routes of other services, and closes them when the process stops. Source: ADR 0170. */
export class InternalRoutes {
  private readonly opened: { close(): Promise<void> }[] = [];

  constructor(
    private readonly caller: ServiceName,
    private readonly settings: Pick<SettingsOf<typeof platformSettings>, `${InternalCallee}Url`>,
    private readonly keys: InternalKeys,
    private readonly neighbours: Neighbours,
  ) {}

  /** Opens a route. `Question` and `Answer` are those of the contract of the path. */
  createClient<Question extends object, Answer>(
    callee: InternalCallee,
    path: InternalRouteOptions['path'],
    limits: Pick<InternalRouteOptions, 'connections' | 'maxWaitMs' | 'share'>,
  ): InternalRouteClient<Question, Answer> {
    const { caller, keys, neighbours } = this;
    const url = this.settings[`${callee}Url`];
    const route = new InternalRouteClient<Question, Answer>({ ...limits, caller, callee, url, keys, neighbours, path });
    this.opened.push(route);
    return route;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.opened.map((route) => route.close()));
  }
}
