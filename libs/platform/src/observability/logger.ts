import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import { redactLine } from './redact';

/** Structured log lines: facts first, then an optional sentence, as in `log.info({ noteId }, 'note created')`. */
export interface Logger {
  debug(facts: object | string, message?: string): void;
  info(facts: object | string, message?: string): void;
  warn(facts: object | string, message?: string): void;
  error(facts: object | string, message?: string): void;
  /** A logger that adds facts, such as `{ requestId }`, to each line. */
  child(bindings: object): Logger;
}
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Injection token of the process's logger. */
export const LOGGER: unique symbol = Symbol('Logger');

/**
 * Creates a logger that writes JSON lines to stdout, one object a line, so that no text of a client can forge a line.
 * Every line passes redaction by key name and by token pattern. Source: reference reliability 7.2 (V16), 8.5. `stream`
 * replaces stdout in tests.
 */
export function createLogger(
  o: { readonly service: string; readonly instance?: string; readonly level: LogLevel },
  stream: DestinationStream = logOutputStream(1),
): Logger {
  return pino(
    {
      level: o.level,
      base: { service: o.service, ...(o.instance === undefined ? {} : { instance: o.instance }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      hooks: { streamWrite: redactLine },
    },
    stream,
  ) as Pino as Logger;
}

/** The destination of log lines of commands. */
export function stderrStream(): DestinationStream {
  return logOutputStream(2);
}

/** One per descriptor: lines of several loggers in one process keep their order. */
const destinations: Partial<Record<1 | 2, ReturnType<typeof pino.destination>>> = {};
let isFlushedAtExit = false;

/** Asynchronous, so that a slow reader does not delay requests; the rest is written when the process exits. */
function logOutputStream(descriptor: 1 | 2): DestinationStream {
  const destination = (destinations[descriptor] ??= pino.destination({ dest: descriptor, sync: false }));
  if (!isFlushedAtExit) process.once('exit', () => Object.values(destinations).forEach((one) => one.flushSync()));
  isFlushedAtExit = true;
  return destination;
}

/**
 * Adapts our logger for Nest. Its start-up messages are logged as debug. `current` returns the logger of a line, where
 * one Nest logger serves several processes.
 */
export function nestLogger(logger: Logger, current: () => Logger = () => logger): LoggerService {
  const facts = (rest: unknown[]): object => {
    const texts = rest.filter((part): part is string => typeof part === 'string');
    const error = rest.find((part) => part instanceof Error);
    return {
      context: texts.at(-1),
      ...(texts.length > 1 ? { stack: texts[0] } : {}),
      ...(error ? { err: error } : {}),
    };
  };
  const line =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void =>
      message instanceof Error
        ? current()[level]({ ...facts(rest), err: message }, message.message)
        : current()[level](facts(rest), String(message));
  return {
    log: line('debug'),
    debug: line('debug'),
    verbose: line('debug'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('error'),
  };
}
