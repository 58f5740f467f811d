/**
 * Runs the stages of a Dockerfile as scripts. Stages before the last one run once for all services, so they may not depend
 * on a build argument.
 *
 * @import { Base } from './base.mjs'
 * @import { Dockerfile, Instruction, Stage } from './dockerfile.mjs'
 * @import { Bind } from './stage-folder.mjs'
 * @typedef {Record<string, string>} Values
 * @typedef {{ stage: StageFolder, args: Values, env: Values, labels: Values, user: string, workdir: string,
 *   ports: string[], entrypoint: string[], command: string[] }} Image
 * @typedef {{ root: string, files: string[], cache: string, npmEnv: Values,
 *   authorities?: string | undefined }} Context
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { executeCopyInstruction } from './copy.mjs';
import { parseBindMount, parseExecForm, failAtInstruction, substitute } from './dockerfile.mjs';
import { StageFolder } from './stage-folder.mjs';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Commands that download packages. Others run without a network. */
const DOWNLOADS = /\bnpm (ci|install)\b/;

export class ImageBuild {
  /** Finished stages. @type {Map<string, Image>} */
  #done = new Map();

  /**
   * @param {{ dockerfile: Dockerfile, context: Context, base: Base, folder: string,
   *   report: (stage: string, step: string, ms: number, files?: string) => void }} options
   */
  constructor({ dockerfile, context, base, folder, report }) {
    this.dockerfile = dockerfile;
    this.context = context;
    this.base = base;
    this.folder = folder;
    this.report = report;
  }

  /**
   * Runs all stages, and returns the image of the last one. Errors: the first step that fails, with its line and output.
   * @param {Values} buildArguments
   * @param {string} name Name of the last stage in the report.
   */
  async run(buildArguments, name) {
    const { stages } = this.dockerfile;
    for (const stage of stages.slice(0, -1)) refuseArguments(stage, buildArguments);
    for (const stage of stages.slice(0, -1))
      if (!this.#done.has(stage.name)) this.#done.set(stage.name, await this.#runStage(stage, {}, stage.name));
    const last = /** @type {Stage} */ (stages.at(-1));
    return this.#runStage(last, buildArguments, name);
  }

  /**
   * @param {Stage} stage
   * @param {Values} buildArguments
   * @param {string} name
   */
  async #runStage({ instructions }, buildArguments, name) {
    const folder = join(this.folder, name);
    /** @type {Image} */
    const image = {
      stage: new StageFolder(this.base, folder),
      args: {},
      env: { PATH, NODE_VERSION: this.base.node },
      labels: {},
      user: '0:0',
      workdir: '/',
      ports: [],
      entrypoint: [],
      command: [],
    };
    const begun = Date.now();
    for (const instruction of instructions) {
      const started = Date.now();
      await this.#step(instruction, image, buildArguments);
      if (instruction.keyword === 'RUN') this.report(name, shortenRunCommand(instruction.text), Date.now() - started);
    }
    this.report(name, `stage: ${instructions.length} instructions`, Date.now() - begun, image.stage.files);
    return image;
  }

  /**
   * @param {Instruction} instruction
   * @param {Image} image
   * @param {Values} buildArguments
   */
  async #step(instruction, image, buildArguments) {
    const { keyword, text, properties } = instruction;
    const values = () => ({ ...image.args, ...image.env });
    const replaced = () => substitute(text, values(), instruction);
    if (keyword === 'ARG')
      for (const [name, value] of properties)
        image.args[name] = buildArguments[name] ?? this.#default(name, value, values(), instruction);
    if (keyword === 'ENV' || keyword === 'LABEL') {
      const before = values();
      const added = properties.map(([name, value]) => [name, substitute(value ?? '', before, instruction)]);
      Object.assign(keyword === 'ENV' ? image.env : image.labels, Object.fromEntries(added));
    }
    if (keyword === 'WORKDIR') {
      image.workdir = posix.resolve(image.workdir, replaced());
      mkdirSync(join(image.stage.files, image.workdir), { recursive: true });
    }
    if (keyword === 'USER') image.user = replaced();
    if (keyword === 'EXPOSE') image.ports = replaced().split(/\s+/);
    if (keyword === 'ENTRYPOINT') image.entrypoint = parseExecForm(instruction);
    if (keyword === 'CMD') image.command = parseExecForm(instruction);
    if (keyword === 'COPY') this.#copy(instruction, image, replaced());
    if (keyword === 'RUN') await this.#runStep(instruction, image);
  }

  /**
   * @param {string} name
   * @param {string | null} value
   * @param {Values} values
   * @param {Instruction} instruction
   */
  #default(name, value, values, instruction) {
    if (value !== null) return substitute(value, values, instruction);
    return this.dockerfile.globals[name] ?? failAtInstruction(instruction, `${name} was not given`);
  }

  /**
   * @param {Instruction} instruction
   * @param {Image} image
   * @param {string} text
   */
  #copy(instruction, { stage, workdir }, text) {
    const from = instruction.flags.find(([name]) => name === 'from')?.[1];
    const source =
      from === undefined ? this.context : { root: this.#stageOf(from, instruction).stage.files, files: null };
    try {
      executeCopyInstruction(text.split(/\s+/), source, { folder: stage.files, workdir });
    } catch (error) {
      throw new Error(`line ${instruction.line}: ${/** @type {Error} */ (error).message}`, { cause: error });
    }
  }

  /**
   * @param {string} name
   * @param {Instruction} instruction
   */
  #stageOf(name, instruction) {
    return this.#done.get(name) ?? failAtInstruction(instruction, `names the unknown stage ${name}`);
  }

  /**
   * @param {Instruction} instruction
   * @param {Image} image
   */
  async #runStep(instruction, { stage, args, env, user, workdir }) {
    const { text, line, flags } = instruction;
    const hasNetwork = DOWNLOADS.test(text);
    /** @type {Bind[]} */
    const binds = flags.map(([, value]) => {
      const { from, source, target } = parseBindMount(value, instruction);
      return { source: join(this.#stageOf(from, instruction).stage.files, source), target };
    });
    const { cache, npmEnv, authorities } = this.context;
    if (hasNetwork) binds.push({ source: cache, target: '/root/.npm', isWritable: true });
    if (hasNetwork && authorities) binds.push({ source: authorities, target: '/root/authorities.pem' });
    const { status, output } = await stage.run(['/bin/sh', '-euc', text], {
      env: { HOME: '/root', ...(hasNetwork ? npmEnv : {}), ...args, ...env },
      user,
      workdir,
      binds,
      hasNetwork,
    });
    if (status !== 0) throw new Error(`line ${line}: RUN ended with ${status}:\n${lastLines(output)}`);
  }
}

/**
 * @param {Stage} stage
 * @param {Values} buildArguments
 */
export function refuseArguments({ name, instructions }, buildArguments) {
  for (const instruction of instructions.filter(({ keyword }) => keyword === 'ARG'))
    for (const [argument] of instruction.properties)
      if (Object.hasOwn(buildArguments, argument))
        failAtInstruction(instruction, `${argument} is in the stage ${name}, which runs once for all services`);
}

/** @param {string} text */
function shortenRunCommand(text) {
  const line = `RUN ${text.replace(/\s+/g, ' ')}`;
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** @param {string} output */
export function lastLines(output) {
  return output.trim().split('\n').slice(-20).join('\n');
}

/** @param {string} file */
export function lastLinesOf(file) {
  return lastLines(readFileSync(file, 'utf8'));
}
