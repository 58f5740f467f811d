/** Tests for two spec files: each finds no changes of the other one, and then makes every change that a file can make. */
const os = require('node:os');
const { Logger } = require('@nestjs/common');
const { getMetadataStorage, registerDecorator } = require('class-validator');
const { register, Counter } = require('prom-client');
const qs = require('qs');
const { getMetadataArgsStorage } = require('typeorm');
const own = require('./own-state.cjs');

class Nest {}
const SHARED = Symbol.for('rookery: seen by files of one worker');

describe('a spec file', () => {
  it('finds nothing of another one', async () => {
    expect(own.count).toBe(0);
    expect(globalThis.leftByAFile).toBeUndefined();
    expect(fetch.name).toBe('fetch');
    expect(setTimeout).toBe(require('node:timers').setTimeout);
    expect(process.env.LEFT_BY_A_FILE).toBeUndefined();
    expect(process.env.PATH).not.toBe('/left');
    expect(process.listenerCount('SIGUSR2')).toBe(0);
    expect(process.cwd()).not.toBe('/');
    expect(process.exit.name).not.toBe('leftExit');
    expect(expect(1).toBeLeft).toBeUndefined();
    expect(Error.prepareStackTrace.name).not.toBe('leftTrace');
    expect(jest.isMockFunction(Logger.log)).toBe(false);
    expect(Logger.staticInstanceRef.constructor.name).not.toBe('Left');
    expect(getMetadataArgsStorage().tables).toEqual([]);
    expect(getMetadataStorage().validationMetadatas.size).toBe(0);
    expect(await register.metrics()).toBe('\n');
  });

  it('has the packages of the worker, in one realm with itself', () => {
    // Core modules are the process's own: what is put there stays, which no other file does.
    os[SHARED] ??= qs;
    expect(qs).toBe(os[SHARED]);
    expect(qs.parse('a[]=1').a).toBeInstanceOf(Array);
    expect(() => qs.parse('a=1', { charset: 'left' })).toThrow(TypeError);
  });

  afterAll(() => {
    own.count += 1;
    globalThis.leftByAFile = true;
    globalThis.fetch = () => {};
    process.env.LEFT_BY_A_FILE = process.env.PATH = '/left';
    process.on('SIGUSR2', () => {});
    process.chdir('/');
    process.exit = function leftExit() {};
    expect.extend({ toBeLeft: () => ({ pass: true, message: () => '' }) });
    Error.prepareStackTrace = function leftTrace(error) {
      return String(error);
    };
    jest.useFakeTimers();
    jest.spyOn(Logger, 'log').mockReturnValue(undefined);
    Logger.overrideLogger(new (class Left {})());
    getMetadataArgsStorage().tables.push({ target: Nest, name: 'nests', type: 'regular' });
    registerDecorator({ target: Nest, propertyName: 'name', validator: { validate: () => true }, options: {} });
    new Counter({ name: 'left', help: 'left' }).inc();
  });
});
