import { wildcardProblems } from '@rookery/api-v4';
import { mergeDocuments, sortKeys, prependGatewayDocument } from './merge-documents';
import type { ServiceDocuments } from './merge-documents';
import { METHODS, routerTemplate } from './openapi-document';
import type { OpenApiOperation } from './openapi-document';

export { mergeDocuments };

import { rateClassOf } from './route';
import type { RouteRow, RouteRows, ShedClass, Upstream } from './route';

/** Routes that end a permission or remove a resource: they are shed last. Source: reference reliability 6.3. */
const REMOVAL = /\/(?:rotate|revoke|block|deactivate|ban)$/;

/**
 * Generates the gateway's route table from its own routes and the services' OpenAPI documents.
 * Errors: a plain Error that lists every template and method that two services claim, and ambiguous wildcard routes.
 */
export function generateRoutes(documents: ServiceDocuments): RouteRows {
  const rows: Record<string, Record<string, RouteRow>> = {};
  const claims: string[] = [];
  for (const [service, document] of prependGatewayDocument(documents)) {
    for (const [path, item] of Object.entries(document.paths ?? {})) {
      for (const method of METHODS) {
        const operation = item[method] as OpenApiOperation | undefined;
        if (!operation) continue;
        const template = routerTemplate(document, path, operation);
        const methods = (rows[template] ??= {});
        const name = method.toUpperCase();
        if (methods[name]) claims.push(`${name} ${template}: ${methods[name].service} and ${service}`);
        methods[name] = toRouteRow(service, template, name, operation);
      }
    }
  }
  if (claims.length > 0) throw new Error(`routes with two owners:\n  ${claims.join('\n  ')}`);
  const routes = Object.entries(rows).flatMap(([template, methods]) =>
    Object.keys(methods).map((method) => ({ method, template })),
  );
  const problems = wildcardProblems(routes);
  if (problems.length > 0) throw new Error(`routes that are ambiguous:\n  ${problems.join('\n  ')}`);
  return sortKeys(rows);
}

function toRouteRow(service: Upstream, template: string, method: string, operation: OpenApiOperation): RouteRow {
  const rate = rateClassOf(template);
  const limit = operation['x-rookery-body-limit'];
  const deadline = operation['x-rookery-deadline-ms'];
  const scopes = operation['x-rookery-token-scopes'];
  const streams = operation['x-rookery-streams'] ?? [];
  return {
    service,
    shed: shedClassOf(template, method, operation),
    ...(limit === undefined ? {} : { bodyLimit: limit }),
    ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    ...(streams.includes('request') ? { streamsRequest: true as const } : {}),
    ...(streams.includes('response') ? { streamsResponse: true as const } : {}),
    ...(rate === 'api' ? {} : { basic: true as const }),
    ...(scopes === undefined || service !== 'gateway' ? {} : { scopes }),
  };
}

function shedClassOf(template: string, method: string, operation: OpenApiOperation): ShedClass {
  if (template.startsWith('/-/health/') || method === 'DELETE' || REMOVAL.test(template)) return 'vital';
  if (method !== 'GET' && method !== 'HEAD') return 'write';
  const schema = operation.responses?.['200']?.content?.['application/json']?.schema;
  return schema?.type === 'array' ? 'list' : 'read';
}
