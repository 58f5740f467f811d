#!/usr/bin/env node
/**
 * `npx rookery`: the command line for operators of an estate that `npm start` runs on this machine, in either layout; the
 * commands about users, tokens and projects work with any estate. docs/operations.md 5 lists commands and exit codes.
 *
 * Modules are loaded by the command that needs them, because a test suite resets an estate before each test.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { PROCESSES } from '../processes/environment.mjs';
import { NoEstate } from '../processes/operate.mjs';
import { EXIT, CommandFailure, Output } from './output.mjs';

const DEFAULT_DATA = fileURLToPath(new URL('../../.rookery', import.meta.url));
/**
 * @typedef {{ data: string, json?: boolean }} Common
 * @typedef {{ data: string, output: Output, options: Record<string, any> }} CommandCall
 */

/**
 * Wraps the function of a command: it receives the data folder, the output and the options, then its arguments.
 * @param {(call: CommandCall, ...args: any[]) => Promise<void>} use
 */
function wrapAction(use) {
  /** @param {...any} args */
  return async (...args) => {
    /** @type {Command} */
    const command = args.pop();
    args.pop();
    const options = command.optsWithGlobals();
    const data = resolve(options['data'] ?? (process.env['ROOKERY_DATA'] || DEFAULT_DATA));
    await use({ data, output: new Output({ isJson: options['json'] === true }), options }, ...args);
  };
}

const program = new Command('rookery')
  .description('Operates Rookery')
  .option('--data <folder>', 'data folder of the estate (default: ROOKERY_DATA, or .rookery of this clone)')
  .option('--json', 'print JSON for programs')
  .configureHelp({ sortSubcommands: false })
  .exitOverride();

/**
 * A group of commands.
 * @param {string} name
 * @param {string} about
 */
const commandGroup = (name, about) => program.command(name).description(about).exitOverride();

/** @param {string} text */
function parsePositiveInteger(text) {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a positive number.');
  return Number(text);
}

/** @param {Command} command */
function withEstateOptions(command) {
  return command
    .option('--url <address>', 'address of an estate that is not on this machine')
    .option('--token-file <file>', 'file with the token of an administrator (default: ROOKERY_ROOT_TOKEN)');
}

/**
 * @param {CommandCall} call
 * @returns {Promise<import('./api.mjs').Api>}
 */
async function createApi({ data, options }) {
  const { Api } = await import('./api.mjs');
  return new Api({ data, url: options['url'], tokenFile: options['tokenFile'] });
}

program
  .command('status')
  .description('shows which processes are ready; fails unless all are')
  .action(
    wrapAction(async ({ data, output }) => {
      const { statesOf } = await import('./status.mjs');
      const states = await statesOf(data);
      output.rows(states, [
        'process',
        'state',
        'pid',
        'management',
        'outbox_oldest_seconds',
        'open_dead_letters',
        'about',
      ]);
      if (states.every(({ state }) => state === 'away'))
        throw new CommandFailure(`No estate runs on ${data}`, EXIT.unavailable);
      if (!states.every(({ state }) => state === 'ready')) throw new CommandFailure('not all processes are ready');
    }),
  );

program
  .command('doctor')
  .description('checks configuration, durability, versions, disk space and clocks; fails if there is a problem')
  .option('--nats-monitor <address>', "monitoring port of a NATS server that is not the estate's own")
  .action(
    wrapAction(async ({ data, output, options }) => {
      const { examineEstate: examine } = await import('./doctor.mjs');
      const findings = await examine(data, { natsMonitor: options['natsMonitor'] });
      output.rows(findings, ['verdict', 'check', 'about']);
      const problems = findings.filter(({ verdict }) => verdict === 'problem').length;
      if (problems > 0) throw new CommandFailure(problems === 1 ? '1 problem' : `${problems} problems`);
    }),
  );

withEstateOptions(commandGroup('users', 'users of the estate').command('create'))
  .description('creates a user; without --password-stdin, with a random password')
  .requiredOption('--username <name>')
  .requiredOption('--email <address>')
  .option('--name <text>', 'full name (default: the username)')
  .option('--admin', 'an administrator')
  .option('--password-stdin', 'read the password from standard input')
  .action(
    wrapAction(async (call) => {
      const { createUser } = await import('./accounts.mjs');
      const { username, name, email, admin, passwordStdin } = call.options;
      const password = passwordStdin ? (await readAllText(process.stdin)).replace(/\r?\n$/, '') : undefined;
      await createUser(await createApi(call), call.output, { username, name, email, admin, password });
    }),
  );

withEstateOptions(commandGroup('tokens', 'personal access tokens').command('create'))
  .description('creates a token of a user and prints it')
  .requiredOption('--user <username>')
  .requiredOption('--name <text>')
  .option('--scopes <list>', 'separated by commas', 'api')
  .option('--expires-at <date>', 'YYYY-MM-DD')
  .action(
    wrapAction(async (call) => {
      const { createToken } = await import('./accounts.mjs');
      const { user, name, scopes, expiresAt } = call.options;
      await createToken(await createApi(call), call.output, { user, name, scopes: scopes.split(','), expiresAt });
    }),
  );

withEstateOptions(program.command('projects'))
  .description('lists projects, the newest first')
  .option('--search <text>')
  .option('--limit <number>', 'most rows', parsePositiveInteger, 20)
  .action(
    wrapAction(async (call) => {
      const { listProjects } = await import('./accounts.mjs');
      const { search, limit } = call.options;
      await listProjects(await createApi(call), call.output, { search, limit });
    }),
  );

const letters = commandGroup('dead-letters', 'events and jobs that failed for the last time');
letters
  .command('list [service]')
  .description('lists those of one service, or of all')
  .option('--effect <name>', 'of one effect or job')
  .option('--state <state>', 'retrying, open, replaying, replayed or discarded')
  .action(
    wrapAction(async ({ data, output, options }, service) => {
      const { listDeadLetters } = await import('./service-commands.mjs');
      await listDeadLetters(data, output, { service, filters: toCommandLineOptions(options, ['effect', 'state']) });
    }),
  );
letters
  .command('show <service> <id>')
  .description('prints one with its content')
  .action(createServiceCommandAction('dead-letters show'));
letters
  .command('replay <service> [ids...]')
  .description('lets the worker try them again')
  .option('--all')
  .option('--effect <name>', 'with --all: of one effect or job')
  .option('--reason <text>')
  .action(createServiceCommandAction('dead-letters replay', ['all', 'effect', 'reason']));
letters
  .command('discard <service> <id>')
  .description('gives one up')
  .requiredOption('--reason <text>')
  .action(createServiceCommandAction('dead-letters discard', ['reason']));

program
  .command('republish <service>')
  .description('sends the events of a span of time again')
  .requiredOption('--from <instant>', 'ISO 8601')
  .option('--to <instant>')
  .option('--types <list>', 'types of events, separated by commas')
  .action(createServiceCommandAction('republish', ['from', 'to', 'types']));
program
  .command('lost <service> <action> [words...]')
  .description('list, keep or drop the rows of what a restore lost: docs/operations.md 2.1')
  .action(createServiceCommandAction('lost'));
program
  .command('rebuild')
  .description('begins another history of the directory, so that every service loads its copy again')
  .action(
    wrapAction(async ({ data, output }) => {
      const { rebuildCopies } = await import('./service-commands.mjs');
      await rebuildCopies(data, output);
    }),
  );

program
  .command('reset')
  .description('returns to the state after the first start')
  .action(createSupervisorCommandAction('reset', () => 'reset'));
const snapshots = commandGroup('snapshot', 'saved states of an estate, for tests');
for (const [command, done] of Object.entries({ save: 'saved', restore: 'restored', delete: 'deleted' }))
  snapshots.command(`${command} <name>`).action(createSupervisorCommandAction(command, (name) => `${done} ${name}`));
snapshots.command('list').action(
  wrapAction(async ({ data, output }) => {
    const { commandEstate } = await import('../processes/local-control.mjs');
    const { found = [] } = await commandEstate(data, 'list');
    output.rows(
      found.map((/** @type {import('../processes/local-control.mjs').SnapshotList[number]} */ { name, savedAt }) => ({
        name,
        saved_at: savedAt,
      })),
      ['saved_at', 'name'],
    );
  }),
);

program
  .command('backup <folder>')
  .description('copies the running estate, all of one moment, into an empty folder')
  .action(
    wrapAction(async ({ data, output }, folder) => {
      const { commandEstate } = await import('../processes/local-control.mjs');
      const progress = output.progress('backup');
      const { ms, found } = await commandEstate(data, 'backup', resolve(folder), progress.report).finally(progress.end);
      const sentence = `backup of ${found.takenAt}: ${found.files} files, ${formatMebibytes(found.bytes)} in ${formatSeconds(ms)}, paused for ${formatSeconds(found.pausedMs)}`;
      output.result(`${sentence}${found.omitted.map((/** @type {string} */ part) => `\nwithout ${part}`).join('')}`, {
        ...found,
        ms,
      });
    }),
  );
program
  .command('restore <backup>')
  .description('restores a backup into an empty data folder, where no estate runs')
  .action(
    wrapAction(async ({ data, output }, backup) => {
      const { restoreBackup } = await import('../snapshots/restored-backup.mjs');
      const progress = output.progress('restore');
      const from = performance.now();
      const record = await restoreBackup(resolve(backup), data, progress.report).finally(progress.end);
      const ms = Math.round(performance.now() - from);
      output.result(
        `restored the state of ${record.takenAt} in ${formatSeconds(ms)}; start it: ROOKERY_DATA=${data} npm start`,
        {
          ...record,
          ms,
        },
      );
    }),
  );

const service = commandGroup('service', 'single processes of an estate that has six');
for (const [command, done] of Object.entries({ stop: 'stopped', start: 'started' }))
  service
    .command(command)
    .addArgument(new Argument('<process>').choices(PROCESSES))
    .action(createSupervisorCommandAction(command, (name) => `${name} ${done}`));

/**
 * The function of a command that a service executes. The first argument is the service, and the others follow the words.
 * @param {string} words
 * @param {string[]} options  those that are passed on
 */
function createServiceCommandAction(words, options = []) {
  return wrapAction(async ({ data, options: given }, name, ...args) => {
    const { runServiceCommand: runCommand } = await import('./service-commands.mjs');
    await runCommand(data, name, [
      ...words.split(' '),
      ...args.flat().filter(Boolean),
      ...toCommandLineOptions(given, options),
    ]);
  });
}

/**
 * The function of a command that the supervisor executes.
 * @param {string} command
 * @param {(name: string) => string} sentence
 */
function createSupervisorCommandAction(command, sentence) {
  return wrapAction(async ({ data, output }, name) => {
    const { commandEstate } = await import('../processes/local-control.mjs');
    const { ms } = await commandEstate(data, command, name);
    output.result(`${sentence(name)} in ${formatSeconds(ms)}`, { command, ...(name ? { name } : {}), ms });
  });
}

/**
 * Options as words of a command line.
 * @param {Record<string, unknown>} options
 * @param {string[]} names
 */
function toCommandLineOptions(options, names) {
  return names
    .filter((name) => options[name] !== undefined)
    .flatMap((name) => (options[name] === true ? [`--${name}`] : [`--${name}`, String(options[name])]));
}

/** @param {number} ms */
function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** @param {number} bytes */
function formatMebibytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** @param {NodeJS.ReadableStream} stream */
async function readAllText(stream) {
  let text = '';
  for await (const part of stream.setEncoding('utf8')) text += part;
  return text;
}

/** @param {unknown} error */
function reportErrorAsExitCode(error) {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  const { message } = /** @type {Error} */ (error);
  if (message) process.stderr.write(`${message}\n`);
  if (error instanceof NoEstate) return EXIT.unavailable;
  return error instanceof CommandFailure ? error.code : EXIT.failed;
}

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportErrorAsExitCode(error);
}
