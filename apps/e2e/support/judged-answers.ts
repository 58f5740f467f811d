import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentJudge } from '@rookery/testing';

/**
 * Each answer of the API to whatever a journey or a stock client fetches is held against the document: a file of tests fails
 * when one of them has other fields or another type than are told, or lacks some.
 */
const judge = documentJudge(JSON.parse(readFileSync(join(__dirname, '../../gateway/openapi.json'), 'utf8')) as object);
const problems = new Set<string>();
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const request = input instanceof Request ? input : { url: String(input), method: init?.method ?? 'GET' };
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith('/api/v4/')) return response;
  const { status, headers } = response;
  const text = await response.clone().text();
  const problem = judge(request.method, pathname, { status, headers, text });
  if (problem !== null) problems.add(`${problem} (${pathname})`);
  return response;
};

afterAll(() => expect([...problems]).toEqual([]));
