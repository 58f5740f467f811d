#!/usr/bin/env node
/**
 * The document of the whole API against the rules of a well-kept linter, all of its recommended ones as errors but those
 * below. Prints what is wrong with where it stands, and exits with 1.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await problemsOf(readFileSync(FILE, 'utf8'), FILE);
  for (const problem of problems) process.stdout.write(`apps/gateway/openapi.json ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
