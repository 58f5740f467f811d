#!/usr/bin/env node
/**
 * The document of the whole API against the rules of a well-kept linter, all of its recommended ones as errors but those
 * below; and every field and parameter against `plain-names.txt`, which lists the names that need no description.
 * Prints what is wrong with where it stands, and exits with 1.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const PLAIN_NAMES = fileURLToPath(new URL('plain-names.txt', import.meta.url));
const FILE = fileURLToPath(new URL('../../apps/gateway/openapi.json', import.meta.url));

/** Recommended rules that do not hold here, each with its reason. */
const RULES = {
  // The paths are those that clients know: `/projects/user/:user_id` beside `/projects/:id/star`.
  'no-ambiguous-paths': 'off',
  // The gateway answers for its health whatever it is asked.
  'operation-4xx-response': 'off',
  // Beyond the recommended ones.
  'operation-operationId-url-safe': 'error',
  'operation-singular-tag': 'error',
  'operation-description': 'off',
  'parameter-description': 'off',
  'path-params-defined': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-enum-type-mismatch': 'error',
  'no-required-schema-properties-undefined': 'error',
  'no-duplicated-tag-names': 'error',
};

export async function problemsOf(source, name = 'openapi.json') {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES });
  const problems = await lintFromString({ source, absoluteRef: name, config });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer ?? '#'} ${message} (${ruleId})`);
}

/** Names of fields and parameters that nothing is said about, sorted. Another schema, or a few words, say enough. */
export function namesWithoutWords(document) {
  const isTold = (schema) => ['description', '$ref', 'enum', 'const'].some((key) => key in schema);
  const names = new Set();
  const look = (value) => {
    if (value === null || typeof value !== 'object') return;
    const fields = value.type === 'object' || Array.isArray(value.required) ? value.properties : undefined;
    for (const [name, schema] of Object.entries(fields ?? {})) if (!isTold(schema)) names.add(name);
    if (typeof value.in === 'string' && !isTold(value) && !isTold(value.schema)) names.add(value.name);
    for (const part of Object.values(value)) look(part);
  };
  look(document);
  return [...names].sort();
}

/** Shape: `plain` are the names that need no words. */
export function problemsOfNames(document, plain) {
  const found = namesWithoutWords(document);
  return [
    ...found.filter((name) => !plain.includes(name)).map((name) => `${name}: nothing says what it is (about)`),
    ...plain.filter((name) => !found.includes(name)).map((name) => `${name}: in plain-names.txt for nothing`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const source = readFileSync(FILE, 'utf8');
  const plain = readFileSync(PLAIN_NAMES, 'utf8').split('\n').filter(Boolean);
  const problems = [...(await problemsOf(source, FILE)), ...problemsOfNames(JSON.parse(source), plain)];
  for (const problem of problems) process.stdout.write(`apps/gateway/openapi.json ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
