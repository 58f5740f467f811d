import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Inject, Logger as NestLogger, Module, Query } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { Links, LOGGER, Metrics, PlatformModule, platformSettings, Readiness, SERVICE_NAME } from '@rookery/platform';
import type { Logger, SettingsOf, SettingsValues } from '@rookery/platform';

@Controller()
export class TinyController {
  constructor(
    @Inject(platformSettings.token) private readonly settings: SettingsOf<typeof platformSettings>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SERVICE_NAME) private readonly service: string,
    @Inject(Links) private readonly links: Links,
  ) {}

  @Get('nest')
  async nest(): Promise<string> {
    await pause(1);
    new NestLogger('Tiny').warn('by Nest');
    return this.service;
  }

  /** The environment that a program of this process would inherit. */
  @Get('inherited')
  inherited(): string {
    return Object.keys(process.env).join(' ');
  }

  @Get('crash')
  crash(): string {
    setImmediate(() => {
      throw new Error('crashed');
    });
    return this.service;
  }

  @Get('slow')
  async slow(@Query('ms') ms: string): Promise<object> {
    this.logger.child({ requestId: 'r-1' }).info({ ms, password: 'c4n4ry' }, 'asked');
    await pause(Number(ms));
    return {
      service: this.service,
      year: this.clock.now().getUTCFullYear() > 2000,
      level: this.settings.logLevel,
      link: this.links.apiUrl('version'),
    };
  }
}

@Module({ controllers: [TinyController] })
export class TinyModule {
  constructor(@Inject(Readiness) readiness: Readiness, @Inject(Metrics) metrics: Metrics) {
    readiness.addCheck('tiny', () => null);
    metrics.counter('rookery_tiny_total', 'Made once.').inc();
  }

  static forRoot(values: SettingsValues): DynamicModule {
    process.stderr.write('root module made\n');
    return { module: TinyModule, imports: [PlatformModule.forRoot({ service: 'admin', values })] };
  }
}
