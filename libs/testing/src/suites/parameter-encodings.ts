import type { Viewer } from '@rookery/kernel';
import type { Test } from 'supertest';
import { encodeBracketParams, requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

/** The encodings in which clients send the same parameters. */
const ENCODINGS: Readonly<Record<string, (request: Test, params: Params) => Test>> = {
  JSON: (request, params) => request.send(params),
  'JSON of texts': (request, params) => request.send(withTextValues(params)),
  form: (request, params) => request.type('form').send(encodeBracketParams(params)),
  multipart: (request, params) =>
    [...new URLSearchParams(encodeBracketParams(params))].reduce(
      (form, [name, value]) => form.field(name, value),
      request,
    ),
  query: (request, params) => request.query(encodeBracketParams(params)),
  'query with an empty JSON body': (request, params) => request.query(encodeBracketParams(params)).send({}),
  'query with withPythonBooleans booleans': (request, params) =>
    request.query(encodeBracketParams(withPythonBooleans(params))),
};

/**
 * The same parameters mean the same in every encoding. `to` builds a new request for each encoding, so that names that
 * must be unique can differ. `seen` returns the part of the answer that must be equal.
 * Source: reference identity-and-import 1.2, 14.1.
 */
export function registerParameterEncodingTests(o: {
  readonly app: () => TestApp;
  readonly to: (encoding: string) => Promise<EncodedRequest> | EncodedRequest;
  readonly seen: (body: Record<string, unknown>) => unknown;
  readonly expected: unknown;
}): void {
  it.each(Object.keys(ENCODINGS))('understands parameters as %s', async (encoding) => {
    const { viewer, method, path, params } = await o.to(encoding);
    const response = await ENCODINGS[encoding]!(requestOf(o.app().as(viewer), method, path), params);
    expect(response.status < 300 ? '' : `${response.status} ${response.text}`).toBe('');
    expect(o.seen(response.body as Record<string, unknown>)).toEqual(o.expected);
  });
}

export interface EncodedRequest {
  readonly viewer: Viewer;
  readonly method: Method;
  readonly path: string;
  readonly params: Params;
}

function withTextValues(params: Params): Params {
  const text = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(text)
      : typeof value === 'object' && value !== null && !(value instanceof Date)
        ? withTextValues(value as Params)
        : value instanceof Date
          ? value.toISOString()
          : String(value);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, text(value)]));
}

function withPythonBooleans(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, value === true ? 'True' : value === false ? 'False' : value]),
  );
}
