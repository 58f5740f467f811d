import type { EndpointRecord } from './endpoint';
import { fieldsOf } from '../params/fields';
import { pathParamNamesOf, templatesOf } from './route-template';
import { wildcardProblems } from './wildcard';

/**
 * Returns the problems of a service's declarations. An application with a problem does not start, so that every route
 * has a permission and a source. Source: ADR 0030.
 */
export function endpointProblems(endpoints: readonly EndpointRecord[]): readonly string[] {
  const seen = new Set<string>();
  const each = endpoints.flatMap((endpoint) => {
    const templates = templatesOf(endpoint);
    const name = `${endpoint.method} ${templates[0]!}`;
    const routes = templates.map((template) => `${endpoint.method} ${template.replace(/([:*])\w+/g, '$1')}`);
    const twice = routes.filter((route) => seen.has(route) || !seen.add(route));
    const problems = [
      ...findDeclarationProblems(endpoint),
      ...findSearchParamProblems(endpoint),
      ...findStreamProblems(endpoint),
      ...templates.flatMap((template) => findPathParamProblems(endpoint, template)),
      ...twice.map(() => 'is declared twice'),
    ];
    return problems.map((problem) => `${name} (${endpoint.controller.name}.${endpoint.handler}) ${problem}`);
  });
  const routes = endpoints.flatMap((endpoint) =>
    templatesOf(endpoint).map((template) => ({ method: endpoint.method, template })),
  );
  return [...each, ...wildcardProblems(routes)];
}

function findDeclarationProblems({ options, method }: EndpointRecord): string[] {
  const { about, source, may, answers } = options as Partial<EndpointRecord['options']>;
  const shapes = Array.isArray(answers) ? answers.length : answers?.kind === undefined ? 0 : 1;
  const hasBody = Boolean(answers && (answers.presenter ?? answers.schema ?? answers.message));
  return [
    ...(may?.kind === undefined ? ['has no permission'] : []),
    ...(source?.trim() ? [] : ['has no source']),
    ...(about?.trim() ? [] : ['does not say what it does']),
    ...(shapes === 1 ? [] : [`has ${shapes} success shapes`]),
    ...(answers?.status === 204 && hasBody ? ['has a body on 204'] : []),
    ...(method !== 'GET' && answers?.kind === 'redirect' ? ['redirects a write'] : []),
    ...(may?.kind === 'atLeast' && !options.within ? ['asks for a role but has no parent'] : []),
  ];
}

/** Text searches must be declared by @Search, which bounds them and counts them as costly. */
function findSearchParamProblems({ options }: EndpointRecord): string[] {
  const fields = options.params ? fieldsOf(options.params) : [];
  const isText = ({ form }: (typeof fields)[number]): boolean => form.kind === 'text';
  return fields
    .filter((field) => /^(search|query)$/.test(field.name) && isText(field) && !field.common.costly)
    .map(({ name }) => `takes ${name}, which is not declared by @Search`);
}

/** A streamed body carries no parameters, and a wildcard route does not read its body. */
function findStreamProblems(endpoint: EndpointRecord): string[] {
  const { options, method } = endpoint;
  const isWrite = method !== 'GET' && method !== 'DELETE';
  const hasWildcard = templatesOf(endpoint).some((template) => template.includes('*'));
  const uploads = (options.params ? fieldsOf(options.params) : []).some(({ form }) => form.kind === 'upload');
  return [
    ...(options.body && !isWrite ? [`streams the body of a ${method}`] : []),
    ...(options.body && (options.bodyLimit !== undefined || uploads) ? ['reads a body that it streams'] : []),
    ...(!options.body && isWrite && hasWildcard ? ['has a wildcard and a body that is not streamed'] : []),
    ...(options.answers?.hasRanges && method !== 'GET' ? ['has ranges, which are for GET'] : []),
  ];
}

function findPathParamProblems({ options }: EndpointRecord, template: string): string[] {
  const names = pathParamNamesOf(template);
  const fields = options.params ? fieldsOf(options.params) : [];
  const claimed = new Set([...fields.map((field) => field.name), ...(options.within ? [options.within.param] : [])]);
  const unread = [...names].filter((name) => !claimed.has(name)).map((name) => `has :${name}, which nothing reads`);
  const wanted = fields.filter((field) => field.common.in === 'path').map((field) => field.name);
  if (options.within) wanted.push(options.within.param);
  return [
    ...unread,
    ...wanted.filter((name) => !names.has(name)).map((name) => `wants :${name}, which is not in the path`),
  ];
}
