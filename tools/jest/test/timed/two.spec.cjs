const { test } = require('@jest/globals');
const { outlasts } = require('./outlasts.cjs');

test('outlasts the run, unless this is its first file', outlasts);
