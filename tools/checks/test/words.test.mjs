/** The check of words finds riddles in comments and names, and leaves code, quotes and terms of the trade alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wordFindingsIn } from '../words.mjs';

/** @param {string} source */
const reportedWordsIn = (source) => wordFindingsIn('nest.ts', source).map(({ text }) => text);

describe('words', () => {
  /** @type {[name: string, source: string][]} */
  const refused = [
    ['a headless sentence', '/** What is said of a list. */\nconst list = 1;'],
    ['a headless second sentence', '// Rows of a list. Who reads it locks it.\nconst list = 1;'],
    ['a banned word', '/** Reads the list anew. */\nconst list = 1;'],
    ['a banned phrase', '/** The list is looked at again. */\nconst list = 1;'],
    ['a banned word in a comment inside a function', 'function list() {\n  // The list is told.\n  return 1;\n}'],
    ['the mark of shapes', '/** Finds a branch. Shape: null without one. */\nconst list = 1;'],
    ['a class', 'class Comer {}'],
    ['a function', 'function tellMembers() {}'],
    ['a constant', 'const TOLD_LIMIT = 1;'],
  ];
  for (const [name, source] of refused) {
    it(`refuses ${name}`, () => assert.equal(reportedWordsIn(source).length, 1));
  }

  /** @type {[name: string, source: string][]} */
  const free = [
    ['a question', '/** Who is the owner? The creator. */\nconst list = 1;'],
    ['a subordinate clause', '/** Returns what the caller may see. */\nconst list = 1;'],
    ['code in backquotes', '/** Reads `told` of the row. */\nconst list = 1;'],
    ['a stack trace', '/** Writes the stack trace. */\nconst list = 1;'],
    ['a trace id', '/** The trace id. */\nconst traceId = 1;'],
    ['strings', "const text = 'Somebody told you.';"],
    ['properties of interfaces, which may be on the wire', 'interface Row {\n  thing: string;\n}'],
    ['longer words', '/** Retells nothing worsened. */\nconst storyteller = 1;'],
  ];
  for (const [name, source] of free) {
    it(`ignores ${name}`, () => assert.deepEqual(reportedWordsIn(source), []));
  }
});
