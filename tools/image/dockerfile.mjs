/**
 * Reads a Dockerfile into stages. Refuses each instruction, flag and form that `run-stages.mjs` does not run, so that no
 * step is left out silently.
 *
 * @typedef {{ line: number, keyword: string, text: string, flags: [name: string, value: string][],
 *   properties: [name: string, value: string | null][] }} Instruction
 * @typedef {{ name: string, base: string, instructions: Instruction[] }} Stage
 * @typedef {{ stages: Stage[], globals: Record<string, string> }} Dockerfile
 */
import { DockerfileParser } from 'dockerfile-ast';

/** Known instructions with their flags. @type {Record<string, string[]>} */
const KNOWN = {
  FROM: [],
  ARG: [],
  ENV: [],
  LABEL: [],
  WORKDIR: [],
  COPY: ['from'],
  RUN: ['mount'],
  USER: [],
  EXPOSE: [],
  ENTRYPOINT: [],
  CMD: [],
};
const FROM = /^(\S+)(?:\s+AS\s+(\S+))?$/i;
const VARIABLE = /\\\$|\$\{([^}]*)\}|\$(\w+)/g;

/**
 * `globals` are the ARG before the first FROM with their defaults. Errors: an unknown instruction or flag, a heredoc.
 * @param {string} text
 * @returns {Dockerfile}
 */
export function parseDockerfile(text) {
  /** @type {Stage[]} */
  const stages = [];
  /** @type {Record<string, string>} */
  const globals = {};
  for (const found of DockerfileParser.parse(text).getInstructions()) {
    const instruction = readInstruction(found);
    const stage = stages.at(-1);
    if (instruction.keyword === 'FROM') stages.push(stageOf(instruction, stages.length, globals));
    else if (stage) stage.instructions.push(instruction);
    else if (instruction.keyword !== 'ARG') failAtInstruction(instruction, 'is before the first FROM');
    else for (const [name, value] of instruction.properties) if (value !== null) globals[name] = value;
  }
  if (stages.length === 0) throw new Error('the Dockerfile has no FROM');
  return { stages, globals };
}

/**
 * @param {import('dockerfile-ast').Instruction} found
 * @returns {Instruction}
 */
function readInstruction(found) {
  const keyword = found.getKeyword();
  // The parser has the flags and properties only on the classes of some instructions.
  const rich =
    /** @type {Partial<import('dockerfile-ast').PropertyInstruction & import('dockerfile-ast').ModifiableInstruction>} */ (
      /** @type {unknown} */ (found)
    );
  const flags = (rich.getFlags?.() ?? []).map((flag) => pair(flag.getName(), flag.getValue() ?? ''));
  const properties = (rich.getProperties?.() ?? []).map((one) => pair(one.getName(), one.getValue()));
  const line = found.getRange().start.line + 1;
  const instruction = { line, keyword, text: found.getArgumentsContent() ?? '', flags, properties };
  const known = Object.hasOwn(KNOWN, keyword) ? KNOWN[keyword] : undefined;
  if (!known) failAtInstruction(instruction, 'is unknown');
  for (const [name] of flags)
    if (!known.includes(name)) failAtInstruction(instruction, `has the unknown flag --${name}`);
  // COPY --from is a flag of another class in the parser; unread flags would become a source.
  if (instruction.text.startsWith('--')) failAtInstruction(instruction, `has an unknown flag: ${instruction.text}`);
  if (instruction.text.includes('<<')) failAtInstruction(instruction, 'has a heredoc, which is unknown');
  return instruction;
}

/**
 * @template A, B
 * @param {A} one
 * @param {B} other
 * @returns {[A, B]}
 */
function pair(one, other) {
  return [one, other];
}

/**
 * @param {Instruction} from
 * @param {number} index
 * @param {Record<string, string>} globals
 * @returns {Stage}
 */
function stageOf(from, index, globals) {
  const [, base, name = String(index)] = FROM.exec(from.text) ?? failAtInstruction(from, 'is not FROM image AS name');
  return { name, base: substitute(base ?? '', globals, from), instructions: [] };
}

/**
 * Replaces variables as Docker does. Errors: a variable without a value; a form with a default.
 * @param {string} text
 * @param {Record<string, string>} values
 * @param {Instruction} instruction
 */
export function substitute(text, values, instruction) {
  return text.replace(VARIABLE, (all, braced, plain) => {
    if (all === '\\$') return '$';
    const name = braced ?? plain;
    if (!/^\w+$/.test(name)) failAtInstruction(instruction, `has the unknown form ${all}`);
    return Object.hasOwn(values, name)
      ? (values[name] ?? '')
      : failAtInstruction(instruction, `has no value for ${name}`);
  });
}

/**
 * Words of the exec form. Errors: another form.
 * @param {Instruction} instruction
 * @returns {string[]}
 */
export function parseExecForm(instruction) {
  try {
    const words = JSON.parse(instruction.text);
    if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  } catch {
    // The shell form is no JSON.
  }
  return failAtInstruction(instruction, 'is not in the exec form');
}

/**
 * Values of a flag `--mount=type=bind,from=…`. Errors: another type.
 * @param {string} value
 * @param {Instruction} instruction
 */
export function parseBindMount(value, instruction) {
  const { type, from, source, target, ...others } = Object.fromEntries(value.split(',').map((one) => one.split('=')));
  if (type !== 'bind' || !from || !source || !target || Object.keys(others).length > 0)
    failAtInstruction(instruction, `has an unknown mount: ${value}`);
  return { from, source, target };
}

/**
 * @param {Instruction} instruction
 * @param {string} fault
 * @returns {never}
 */
export function failAtInstruction({ line, keyword }, fault) {
  throw new Error(`line ${line}: ${keyword} ${fault}`);
}
