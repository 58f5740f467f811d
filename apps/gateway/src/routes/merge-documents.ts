import type { ServiceName } from '@rookery/contracts';
import { aboutDocument } from './about.document';
import { addServerPath } from './openapi-document';
import type { OpenApiDocument } from './openapi-document';
import type { Upstream } from './route';

/** The OpenAPI document of each service that has one. */
export type ServiceDocuments = Readonly<Partial<Record<ServiceName, OpenApiDocument>>>;

type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * Merges the services' documents into one OpenAPI document of the whole API. Paths include their base; of components
 * that two services define differently, one gets the service's name as a prefix. Source: reference identity-and-import
 * 1.4.
 */
export function mergeDocuments(documents: ServiceDocuments): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  const components: Record<string, Record<string, unknown>> = {};
  const tags = new Map<string, { readonly name: string }>();
  for (const [service, document] of prependGatewayDocument(documents)) {
    const renamed = newNamesOfClashingComponents(document, components, service);
    const own = renameReferences(document as JsonValue, renamed) as OpenApiDocument;
    for (const [path, item] of Object.entries(own.paths ?? {})) {
      const template = addServerPath(document, path);
      paths[template] = { ...paths[template], ...item };
    }
    for (const [kind, entries] of Object.entries(own.components ?? {})) {
      for (const [name, value] of Object.entries(entries)) {
        (components[kind] ??= {})[renamed.get(componentReference(kind, name)) ?? name] = value;
      }
    }
    // The owner of the noun has the description.
    for (const tag of own.tags ?? []) tags.set(tag.name, { ...tags.get(tag.name), ...tag });
  }
  return {
    openapi: aboutDocument.openapi as string,
    info: {
      title: 'Rookery',
      version: 'v4',
      description: 'The whole API, as the gateway serves it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { bearer: [] }],
    tags: [...tags.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    paths: sortKeys(paths),
    components: sortKeys(components),
  };
}

/** The gateway's own document first, then the services' by name. */
export function prependGatewayDocument(documents: ServiceDocuments): [Upstream, OpenApiDocument][] {
  const services = Object.entries(documents).sort(([a], [b]) => (a < b ? -1 : 1)) as [ServiceName, OpenApiDocument][];
  return [['gateway', aboutDocument], ...services];
}

/** Sorts the keys of objects at every depth. */
export function sortKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item as unknown)) as T;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item as unknown)])) as T;
}

function componentReference(kind: string, name: string): string {
  return `#/components/${kind}/${name}`;
}

/** Maps the references of components whose names are taken by other content to new names. */
function newNamesOfClashingComponents(
  document: OpenApiDocument,
  taken: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  service: string,
): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const [kind, entries] of Object.entries(document.components ?? {})) {
    for (const [name, value] of Object.entries(entries)) {
      const other = taken[kind]?.[name];
      if (other !== undefined && JSON.stringify(sortKeys(other)) !== JSON.stringify(sortKeys(value))) {
        renamed.set(componentReference(kind, name), `${service}.${name}`);
      }
    }
  }
  return renamed;
}

function renameReferences(value: JsonValue, newReferences: ReadonlyMap<string, string>): JsonValue {
  if (newReferences.size === 0) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => renameReferences(item, newReferences));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]): [string, JsonValue] => {
      const name = key === '$ref' && typeof item === 'string' ? newReferences.get(item) : undefined;
      if (name === undefined) return [key, renameReferences(item, newReferences)];
      return [key, `${(item as string).slice(0, (item as string).lastIndexOf('/'))}/${name}`];
    }),
  );
}
