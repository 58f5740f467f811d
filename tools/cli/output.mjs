/**
 * Output of the command line: tables and sentences for people, or one JSON value for programs (`--json`). Progress and
 * errors go to standard error, so that standard output contains the result only.
 */
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';

/** Exit codes. 0: done. Source: docs/operations.md 5. */
export const EXIT = {
  /** The command failed or was refused, or a check found a problem. */
  failed: 1,
  /** Wrong arguments. */
  usage: 64,
  /** No estate answers: none runs on the data folder, or the address cannot be reached. */
  unavailable: 69,
};

/** Failure of a command, with a message for the user and an exit code. */
export class CommandFailure extends Error {
  /**
   * @param {string} message
   * @param {number} [code]
   */
  constructor(message, code = EXIT.failed) {
    super(message);
    this.code = code;
  }
}

/** Table lines without borders. */
const PLAIN = {
  chars: {
    ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
    ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
    ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
};

export class Output {
  /** @param {{ isJson: boolean }} options */
  constructor({ isJson }) {
    this.isJson = isJson;
  }

  /**
   * Prints rows: a table with these columns, or an array with all fields.
   * @param {Record<string, unknown>[]} rows
   * @param {string[]} columns
   */
  rows(rows, columns) {
    if (this.isJson) return this.#print(JSON.stringify(rows));
    if (rows.length === 0) return this.#print('none');
    const table = new Table({ ...PLAIN, head: columns.map((column) => column.replaceAll('_', ' ')) });
    for (const row of rows) table.push(columns.map((column) => printableCell(row[column])));
    this.#print(table.toString().replaceAll(/ +$/gm, ''));
  }

  /**
   * Prints the result of a command: a sentence, or the facts.
   * @param {string} sentence
   * @param {Record<string, unknown>} facts
   */
  result(sentence, facts) {
    this.#print(this.isJson ? JSON.stringify(facts) : sentence);
  }

  /**
   * Starts a progress bar. It is visible on a terminal only.
   * @param {string} about
   * @returns {{ report(done: number, total: number): void, end(): void }}
   */
  progress(about) {
    if (this.isJson || !process.stderr.isTTY) return { report() {}, end() {} };
    const bar = new SingleBar({ format: `${about} {bar} {percentage} %`, stream: process.stderr, hideCursor: true });
    bar.start(1, 0);
    return {
      report(done, total) {
        bar.setTotal(Math.max(total, 1));
        bar.update(done);
      },
      end: () => bar.stop(),
    };
  }

  /** @param {string} text */
  #print(text) {
    process.stdout.write(`${text}\n`);
  }
}

/**
 * Text of a value in a table. Control characters are replaced, because names and errors come from users and other servers.
 * @param {unknown} value
 */
function printableCell(value) {
  const text = value === null || value === undefined ? '-' : String(value);
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
