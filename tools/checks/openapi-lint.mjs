#!/usr/bin/env node
/**
 * The document of the whole API against the rules of a well-kept linter, all of its recommended ones as errors but those
 * below; and every field and parameter against `plain-names.txt`, which lists the names that need no description. No answer
 * may hold what the document does not tell, or suites would judge it by nothing.
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

/** Answers that may hold what nothing here knows, each with its reason. */
const OPEN = {
  // It is a document of another standard, which this very check reads.
  'getOpenApiDocument 200': true,
};

/**
 * Where answers may hold anything: no type, an object without named fields, a list of whatever. A map says what its values
 * are, and an empty list has none.
 */
export function openSchemas({ paths, components }) {
  const found = [];
  const look = (schema, at) => {
    if (typeof schema !== 'object' || schema === null) return void found.push(at);
    const types = [schema.type ?? []].flat();
    const several = ['anyOf', 'oneOf', 'allOf'].filter((word) => word in schema);
    if (types.length + several.length === 0 && !['$ref', 'enum', 'const'].some((word) => word in schema))
      found.push(at);
    const { properties, items, additionalProperties } = schema;
    if (properties !== undefined && !types.includes('object')) found.push(at);
    if (types.includes('object') && additionalProperties !== undefined && additionalProperties !== false) {
      look(additionalProperties, `${at}.*`);
    } else if (types.includes('object') && properties === undefined) found.push(at);
    if (types.includes('array') && schema.maxItems !== 0) look(items, `${at}[]`);
    for (const [name, field] of Object.entries(properties ?? {})) look(field, `${at}.${name}`);
    for (const word of several) schema[word].forEach((one) => look(one, at));
  };
  const lookAtBody = (response, at) => {
    const body = response.content?.['application/json'];
    if (body) look(body.schema, at);
  };
  for (const [name, schema] of Object.entries(components.schemas)) look(schema, name);
  for (const [name, response] of Object.entries(components.responses)) lookAtBody(response, name);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, response] of Object.entries(operation.responses)) {
      lookAtBody(response, `${operation.operationId} ${status}`);
    }
  }
  return found;
}

export function problemsOfOpenSchemas(document) {
  return openSchemas(document)
    .filter((at) => !Object.hasOwn(OPEN, at))
    .map((at) => `${at}: an answer may hold anything there, so nothing judges it`);
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
  const document = JSON.parse(source);
  const problems = [
    ...(await problemsOf(source, FILE)),
    ...problemsOfNames(document, plain),
    ...problemsOfOpenSchemas(document),
  ];
  for (const problem of problems) process.stdout.write(`apps/gateway/openapi.json ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
