import { Global, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EndpointRoutes } from './endpoint/endpoint-routes';
import { API_V4_OPTIONS } from './endpoint/runtime';
import type { ApiV4Options } from './endpoint/runtime';

/** Serves the endpoints of all controllers of the application. Requires PlatformModule in the same application. */
@Global()
@Module({})
export class ApiV4Module {
  static forRoot(options: ApiV4Options): DynamicModule {
    return {
      module: ApiV4Module,
      imports: [DiscoveryModule],
      providers: [EndpointRoutes, { provide: API_V4_OPTIONS, useValue: options }],
      exports: [EndpointRoutes, API_V4_OPTIONS],
    };
  }
}
