import { fieldsOf, registeredEndpoints, templatesOf } from '@rookery/api-v4';
import type { EndpointRecord } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { encodeBracketParams, requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

/**
 * Calls every endpoint of a service with the minimum and maximum that each numeric parameter permits: no answer is a
 * server error, since no column and no cast fails. The calls do not count as tests of the route. `viewer` is an
 * administrator; `ids` are existing ids by the preceding word of the path (`{ projects: 7 }`), other ids are 1;
 * `params` are other required parameters, by method and template, with a number that no other request has. Source:
 * reference identity-and-import 1.2.
 */
export function registerNumberLimitTests(o: {
  readonly app: () => TestApp;
  readonly viewer: () => Viewer;
  readonly ids?: () => Readonly<Record<string, number>>;
  readonly params?: Readonly<Record<string, (serial: number) => Params>>;
}): void {
  let serial = 0;

  it.each(routesWithNumberParams(registeredEndpoints()))(
    '%s %s accepts its numbers',
    async (method, template, endpoint) => {
      const ids = o.ids?.() ?? {};
      for (const numbers of paramsAtNumberBounds(endpoint.options.params)) {
        serial += 1;
        const path = template
          .replace(/:(\w+)/g, (whole, name: string) => `${(numbers[name] as number | undefined) ?? whole}`)
          .replace(/(\w+)\/:\w+/g, (_, word: string) => `${word}/${ids[word] ?? 1}`)
          .replace(/[:*]\w+/g, '1');
        const params = { ...o.params?.[`${method} ${template}`]?.(serial), ...numbers };
        const request = requestOf(o.app().as(o.viewer(), { isUncounted: true }), method, path);
        const { status, text } = await (method === 'GET'
          ? request.query(encodeBracketParams(params))
          : request.send(params));
        expect(status < 500 ? '' : `${path} ${JSON.stringify(params)}: ${status} ${text}`).toBe('');
      }
    },
  );
}

function routesWithNumberParams(endpoints: readonly EndpointRecord[]): [Method, string, EndpointRecord][] {
  return endpoints
    .filter((endpoint) => paramsAtNumberBounds(endpoint.options.params).length > 0)
    .map((endpoint) => [endpoint.method, templatesOf(endpoint)[0]!, endpoint]);
}

/** Parameters with one number each, for the bounds of every number of a class. */
function paramsAtNumberBounds(params: object | undefined): Params[] {
  if (params === undefined) return [];
  const bounds = ({ min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }) => [min, max];
  return fieldsOf(params).flatMap(({ name, form }): Params[] => {
    switch (form.kind) {
      case 'int':
      case 'float':
        return bounds(form).map((number) => ({ [name]: number }));
      case 'list':
        return form.of === 'int' ? bounds({}).map((number) => ({ [name]: [number] })) : [];
      case 'idOrPath':
        return [{ [name]: Number.MAX_SAFE_INTEGER }];
      case 'group':
        return paramsAtNumberBounds(form.of()).map((inner) => ({ [name]: inner }));
      case 'hashes':
        return paramsAtNumberBounds(form.of()).map((inner) => ({ [name]: [inner] }));
      default:
        return [];
    }
  });
}
