import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentChecker } from '@rookery/testing';

/**
 * Checks each answer that a journey or a stock client fetches against the OpenAPI document: a test file fails if an answer
 * has undocumented or missing fields, or another type.
 */
const findProblem = documentChecker(
  JSON.parse(readFileSync(join(__dirname, '../../gateway/openapi.json'), 'utf8')) as object,
);
const problems = new Set<string>();
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const request = input instanceof Request ? input : { url: String(input), method: init?.method ?? 'GET' };
  // A followed redirect answers for the address to which it led.
  const { pathname } = new URL(response.redirected ? response.url : request.url);
  if (!pathname.startsWith('/api/v4/')) return response;
  const { status, headers } = response;
  const text = await response.clone().text();
  const problem = findProblem(request.method, pathname, { status, headers, text });
  if (problem !== null) problems.add(`${problem} (${pathname})`);
  return response;
};

afterAll(() => expect([...problems]).toEqual([]));
