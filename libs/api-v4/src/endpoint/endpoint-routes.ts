import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { CLOCK, Unavailable } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import {
  ContextSigningKeys,
  InternalKeys,
  KEYED_WRITES,
  Links,
  LOGGER,
  Metrics,
  Outages,
  platformSettings,
} from '@rookery/platform';
import type { KeyedWrites, Logger, SettingsOf } from '@rookery/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import makeRouter from 'find-my-way';
import type { HTTPMethod } from 'find-my-way';
import { CALLER_SOURCE, CallerChecks } from '../limits/caller-checks';
import type { CallerSource } from '../limits/caller-checks';
import { FairSemaphore, concurrencyLimitsOf } from '../limits/fair-places';
import type { ApiReply, ApiRequest } from '../call/api-request';
import { endpointsOf } from './endpoint';
import type { EndpointRecord, HttpMethod } from './endpoint';
import { endpointProblems } from './endpoint-check';
import { UnknownRoute, WrongVerb } from '../answers/errors';
import { createInternalRouteHandler, internalRoutesOf } from './internal';
import { LocalRoutes, ROUTER_OPTIONS } from './local-routes';
import { EndpointPipeline } from './pipeline';
import type { Controller } from './pipeline';
import { DEFAULT_BODY_LIMIT, disableBodyParsing } from '../params/request-body';
import { templatesOf, wildcardNameOf } from './route-template';
import { API_V4_OPTIONS, BEFORE_REPLAY, HttpRequestMetrics, WRITE_HEADERS } from './runtime';
import type { ApiRuntime, ApiV4Options, BeforeReplay, WriteHeaders } from './runtime';
import { SCOPE_RESOLVER } from '../call/scope';
import type { ScopeResolver } from '../call/scope';
import { UnreadPageLimiter } from '../limits/unread-pages';
import { WildcardRoutes } from './wildcard-routes';

const NO_CALLERS: CallerSource = { confirm: () => Promise.reject(new Unavailable('identity away')) };
type Verb = HttpMethod | 'HEAD';

/**
 * Registers the endpoints of all controllers with Fastify's router when the application starts. It bypasses Nest's
 * router, which costs 4 us a request and does not support body limits, aliases or paths outside the prefix (ADR 0030).
 */
@Injectable()
export class EndpointRoutes implements OnModuleInit {
  readonly traffic: HttpRequestMetrics;
  /** The routes for services in the same process, which call them without HTTP. */
  readonly local = new LocalRoutes();
  private readonly fixedRoutes = makeRouter(ROUTER_OPTIONS);
  private readonly verbs = new Set<string>();
  private readonly wildcards = new WildcardRoutes<EndpointPipeline>();
  /** Wildcard routes that are registered with Fastify, as `<method> <URL>`. */
  private readonly registeredWildcards = new Set<string>();
  /** Routes whose bodies Fastify does not read. */
  private readonly streaming: RouteOptions[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly modules: ModuleRef,
    private readonly http: HttpAdapterHost,
  ) {
    this.traffic = new HttpRequestMetrics(this.requireProvider<Metrics>(Metrics));
  }

  /** Registers the routes. Errors: a plain Error that lists every problem of the declarations. */
  onModuleInit(): void {
    const holders = this.discovery.getControllers().filter((wrapper) => wrapper.instance && wrapper.metatype);
    const declared = holders.flatMap(({ instance, metatype }) =>
      endpointsOf(metatype as object).map((endpoint) => ({ endpoint, instance: instance as Controller })),
    );
    const problems = endpointProblems(declared.map(({ endpoint }) => endpoint));
    if (problems.length > 0) throw new Error(`endpoints that cannot be served:\n  ${problems.join('\n  ')}`);
    // Workers and commands serve no HTTP, but their declarations are checked too.
    if (this.http.httpAdapter?.getType() !== 'fastify') return;
    const fastify = this.http.httpAdapter.getInstance<FastifyInstance>();
    const runtime = this.createRuntime(declared.map(({ endpoint }) => endpoint));
    for (const { endpoint, instance } of declared) this.registerRoute(fastify, endpoint, instance, runtime);
    for (const { instance, metatype } of holders)
      this.registerInternalRoutes(fastify, metatype as object, instance, runtime);
    // Body parsers belong to a scope of Fastify, so these routes get their own.
    if (this.streaming.length > 0) {
      void fastify.register((scope, _options, done) => {
        disableBodyParsing(scope);
        for (const route of this.streaming) scope.route(route);
        done();
      });
    }
  }

  /**
   * Returns the error for a request that matches no route: 405 if its path has other methods, else 404. `url` is the
   * target of the request as sent.
   */
  refuseUrl(url: string): UnknownRoute | WrongVerb {
    const path = url.split('?', 1)[0]!;
    const fixed = [...this.verbs].filter((verb) => this.fixedRoutes.find(verb as HTTPMethod, path) !== null);
    const allowed = [...new Set([...fixed, ...this.wildcards.listMethods(path)])];
    return allowed.length === 0 ? new UnknownRoute() : new WrongVerb(allowed);
  }

  /**
   * Returns the endpoint that matches a request; null for none. `url` is the target as sent, with or without a query.
   */
  findEndpoint(method: string, url: string): EndpointRecord | null {
    const path = url.split('?', 1)[0]!;
    const found = this.fixedRoutes.find(method as HTTPMethod, path)?.store as EndpointRecord | undefined;
    return found ?? this.wildcards.findRoute(method, path)?.target.endpoint ?? null;
  }

  private registerInternalRoutes(
    fastify: FastifyInstance,
    controller: object,
    instance: unknown,
    runtime: ApiRuntime,
  ): void {
    for (const record of internalRoutesOf(controller)) {
      const handler = createInternalRouteHandler(
        record,
        (request) => (instance as Controller)[record.handler]!(request),
        runtime,
      );
      const route = { method: record.method, url: record.path, handler };
      const { bodyLimit } = record;
      if (record.isStreamed) this.streaming.push(route);
      else fastify.route(bodyLimit === undefined ? route : { ...route, bodyLimit });
      const local = record.isStreamed ? null : { bodyLimit: bodyLimit ?? DEFAULT_BODY_LIMIT, handle: handler };
      this.local.addRoute([record.method], record.path, local);
    }
  }

  private registerRoute(
    fastify: FastifyInstance,
    endpoint: EndpointRecord,
    controller: Controller,
    runtime: ApiRuntime,
  ): void {
    const verbs: Verb[] = endpoint.method === 'GET' ? ['GET', 'HEAD'] : [endpoint.method];
    for (const template of templatesOf(endpoint)) {
      const pipeline = new EndpointPipeline(endpoint, template, controller, runtime);
      if (wildcardNameOf(template) === null) this.registerFixedRoute(fastify, verbs, template, pipeline);
      else for (const verb of verbs) this.registerWildcardRoute(verb, template, pipeline);
    }
  }

  private registerFixedRoute(
    fastify: FastifyInstance,
    verbs: Verb[],
    template: string,
    pipeline: EndpointPipeline,
  ): void {
    const { endpoint } = pipeline;
    const bodyLimit = endpoint.options.bodyLimit ?? DEFAULT_BODY_LIMIT;
    const handler = (request: FastifyRequest, reply: FastifyReply) => pipeline.handleHttp(request, reply);
    const route = { method: verbs, url: template, bodyLimit, handler };
    const local = { bodyLimit, handle: (request: ApiRequest, reply: ApiReply) => pipeline.handle(request, reply) };
    this.local.addRoute(verbs, template, pipeline.supportsLocalCalls ? local : null);
    if (endpoint.options.body === undefined) fastify.route(route);
    else this.streaming.push(route);
    for (const verb of verbs) {
      this.verbs.add(verb);
      this.fixedRoutes.on(verb, template, () => undefined, endpoint);
    }
  }

  /** Wildcard routes with the same prefix share one route of Fastify, whose handler finds the matching one. */
  private registerWildcardRoute(verb: Verb, template: string, pipeline: EndpointPipeline): void {
    const url = this.wildcards.addRoute(verb, template, pipeline);
    if (this.registeredWildcards.has(`${verb} ${url}`)) return;
    this.registeredWildcards.add(`${verb} ${url}`);
    const handler = (request: FastifyRequest, reply: FastifyReply): unknown => {
      const found = this.wildcards.findRoute(verb, request.raw.url!.split('?', 1)[0]!);
      if (found === null) return reply.callNotFound();
      request.params = found.params;
      return found.target.handleHttp(request, reply);
    };
    this.streaming.push({ method: verb, url, handler });
    this.local.addRoute([verb], url, null);
  }

  private createRuntime(endpoints: readonly EndpointRecord[]): ApiRuntime {
    const { service, connections } = this.requireProvider<ApiV4Options>(API_V4_OPTIONS);
    const settings = this.requireProvider<SettingsOf<typeof platformSettings>>(platformSettings.token);
    const { requestRightsMs: rightsMs, strictParameters: isStrict } = settings;
    const places = connections === undefined ? null : concurrencyLimitsOf(connections);
    const needsResolver = endpoints.some(({ options }) => options.within !== undefined);
    // Internal routes have no callers whose permissions could change.
    const callers = endpoints.length === 0 ? NO_CALLERS : this.requireProvider<CallerSource>(CALLER_SOURCE);
    return {
      service,
      costly: places ? new FairSemaphore(places.costly) : null,
      heavy: places ? new FairSemaphore(places.heavy) : null,
      unread: new UnreadPageLimiter(),
      checks: new CallerChecks(callers, rightsMs),
      rightsMs,
      isStrict,
      keys: this.requireProvider(ContextSigningKeys),
      internalKeys: this.requireProvider(InternalKeys),
      clock: this.requireProvider<Clock>(CLOCK),
      log: this.requireProvider<Logger>(LOGGER),
      outages: this.requireProvider(Outages),
      links: this.requireProvider(Links),
      services: { get: (token) => this.requireProvider(token) },
      resolver: needsResolver ? this.requireProvider<ScopeResolver>(SCOPE_RESOLVER) : null,
      traffic: this.traffic,
      writeHeaders: this.findProvider<WriteHeaders>(WRITE_HEADERS),
      keyed: this.findProvider<KeyedWrites>(KEYED_WRITES),
      beforeReplay: this.findProvider<BeforeReplay>(BEFORE_REPLAY),
    };
  }

  /** Returns a provider or null. Nest has no optional lookup outside constructors. */
  private findProvider<T>(token: symbol): T | null {
    try {
      return this.requireProvider<T>(token);
    } catch {
      return null;
    }
  }

  // Nest's token type is a union of classes and symbols that does not infer well.
  private requireProvider<T>(token: unknown): T {
    return this.modules.get<T>(token as symbol, { strict: false });
  }
}
