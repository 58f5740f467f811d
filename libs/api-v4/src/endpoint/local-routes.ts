import type { ContextClaims } from '@rookery/contracts';
import type { LocalHandler, LocalRequest, LocalResponse } from '@rookery/platform';
import makeRouter from 'find-my-way';
import type { HTTPMethod, Instance, HTTPVersion } from 'find-my-way';
import { readLocalCallBody, NEEDS_HTTP, parseQueryString } from '../params/request-body';
import { CLAIMS } from '../call/api-request';
import type { ApiReply, ApiRequest } from '../call/api-request';

/** A route that can be called locally. */
export interface LocalRoute {
  /** Units: bytes. Larger bodies are left to HTTP, which refuses them. */
  readonly bodyLimit: number;
  /** Answers a request. Never rejects. */
  handle(request: ApiRequest, reply: ApiReply): Promise<void>;
}

interface AddedRoute {
  readonly verbs: readonly string[];
  readonly url: string;
  readonly route: LocalRoute | null;
}

/** Options of the router, the same for HTTP requests and local calls. */
export const ROUTER_OPTIONS = {
  ignoreDuplicateSlashes: true,
  maxParamLength: 4096,
  querystringParser: parseQueryString,
} as const;

/**
 * Finds the handlers of local calls as Fastify finds those of HTTP requests: with the same router and all routes of the
 * service, also those that HTTP alone serves, so that a path matches the same route. Source: ADR 0199.
 */
export class LocalRoutes {
  private readonly added: AddedRoute[] = [];
  private router: Instance<HTTPVersion.V1> | null = null;

  /** Adds a route of Fastify. `route` is null if HTTP alone serves it. */
  addRoute(verbs: readonly string[], url: string, route: LocalRoute | null): void {
    this.added.push({ verbs, url, route });
  }

  /** Returns the handler of a request; null for requests that need HTTP: streams, files, refusals of the HTTP server. */
  findRoute(request: LocalRequest): LocalHandler | null {
    // Only services with neighbours need this router, so it is built with the first call.
    this.router ??= this.buildRouter();
    const found = this.router.find(request.method as HTTPMethod, request.url);
    const route = found?.store as LocalRoute | null | undefined;
    if (!route) return null;
    const body = readLocalCallBody(request, route.bodyLimit);
    if (body === NEEDS_HTTP) return null;
    const { method, url, headers } = request;
    return (response: LocalResponse, claims: ContextClaims | null) => {
      const earliestArrival = performance.now();
      const { params, searchParams: query } = found!;
      return route.handle(
        { raw: { method, url }, headers, params, query, body, earliestArrival, [CLAIMS]: claims },
        { raw: response, hijack: () => undefined },
      );
    };
  }

  private buildRouter(): Instance<HTTPVersion.V1> {
    const router = makeRouter(ROUTER_OPTIONS);
    for (const { verbs, url, route } of this.added) router.on([...verbs] as HTTPMethod[], url, () => undefined, route);
    return router;
  }
}
