import { lookup } from 'node:dns/promises';
import { Module } from '@nestjs/common';
import type { SettingsOf } from '@rookery/platform';
import { parseAllowedDestinations } from './destination';
import { Egress } from './egress';
import { egressSettings } from './egress.config';

/** Looks a name up through the operating system, so that its own names count too. */
async function resolveHost(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

/** Provides `Egress`. Needs `egressSettings` among the settings of the process. */
@Module({
  providers: [
    {
      provide: Egress,
      inject: [egressSettings.token],
      useFactory: ({ allow }: SettingsOf<typeof egressSettings>) =>
        new Egress({ listed: parseAllowedDestinations(allow), ports: [443], resolve: resolveHost }),
    },
  ],
  exports: [Egress],
})
export class EgressModule {}
